/* Options of both faces. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rewrites[] = {
#define REWRITE(name, faces, reason) (faces) & PLUGIN ? name : NULL,
#include "rewrites.def"
#undef REWRITE
};

bool config_listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *p = list; *p; p += strcspn(p, ";"), p += *p == ';')
    if (strcspn(p, ";") == n && !strncmp(p, name, n)) return true;
  return false;
}

static void missing_rewrites(const char *disabled, config *out) {
  out->missing[0] = '\0';
  for (size_t i = 0; i < sizeof rewrites / sizeof rewrites[0]; i++)
    if (rewrites[i] && !config_listed(disabled, rewrites[i]) &&
        !(out->folding_checked && !strcmp(rewrites[i], "ConstantFolding"))) {
      size_t used = strlen(out->missing);
      snprintf(out->missing + used, sizeof out->missing - used, "%s%s", used ? ";" : "", rewrites[i]);
    }
}

static void option(const char *name, const char *value, config *out) {
  const char *choices = "";
  if (!strcmp(name, "mode")) {
    choices = "exact or fast";
    if (!strcmp(value, "exact"))
      out->mode = EXACT_MODE_EXACT;
    else if (!strcmp(value, "fast"))
      out->mode = EXACT_MODE_FAST;
    else
      goto bad_value;
  } else if (!strcmp(name, "unmodified_graph")) {
    choices = "warn or require";
    if (!strcmp(value, "require"))
      out->require_unmodified = true;
    else if (strcmp(value, "warn"))
      goto bad_value;
  } else if (!strcmp(name, "constant_folding")) {
    choices = "off or checked";
    if (!strcmp(value, "checked"))
      out->folding_checked = true;
    else if (strcmp(value, "off"))
      goto bad_value;
  } else if (!strcmp(name, "opset")) {
    char *end;
    choices = "the model's opset, from 7 on";
    long opset = strtol(value, &end, 10);
    if (*end || opset < 7 || opset > 999) goto bad_value;
    out->opset = (int)opset;
  } else if (!strcmp(name, "custom_ops")) {
    choices = "set by the custom-op library only";
    if (!strcmp(value, "1"))
      out->overridden = true;
    else
      goto bad_value;
  } else {
    snprintf(out->error, sizeof out->error, "%s: unknown option '%s' (known: mode, unmodified_graph, constant_folding, opset)",
             EXACT_EP_NAME, name);
  }
  return;
bad_value:
  snprintf(out->error, sizeof out->error, "%s: option %s has the unknown value '%s' (%s)", EXACT_EP_NAME, name, value, choices);
}

void config_read(const OrtApi *api, const OrtKeyValuePairs *entries, config *out) {
  const char *const *keys, *const *values;
  const char *disabled = "";
  size_t n = 0, prefix = strlen(EXACT_CONFIG_PREFIX);
  *out = (config){0};
  ORT(api, GetKeyValuePairs)(entries, &keys, &values, &n);
  for (size_t i = 0; i < n; i++) {
    if (!strncmp(keys[i], EXACT_CONFIG_PREFIX, prefix)) option(keys[i] + prefix, values[i], out);
    if (!strcmp(keys[i], CONFIG_DISABLED)) disabled = values[i];
  }
  missing_rewrites(disabled, out);
}

bool config_entry(const OrtApi *api, const OrtSessionOptions *options, const char *key, char *out, size_t size) {
  int has = 0;
  out[0] = '\0';
  if (ort_failed(api, ORT(api, HasSessionConfigEntry)(options, key, &has)) || !has) return true;
  return !ort_failed(api, ORT(api, GetSessionConfigEntry)(options, key, out, &size));
}

void config_read_known(const OrtApi *api, const OrtSessionOptions *options, config *out) {
  static const char *const known[] = {"mode", "unmodified_graph", "constant_folding", "opset"};
  *out = (config){0};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    char key[64], value[64];
    snprintf(key, sizeof key, EXACT_CONFIG_PREFIX "%s", known[i]);
    if (!config_entry(api, options, key, value, sizeof value)) snprintf(value, sizeof value, "(too long)");
    if (*value) option(known[i], value, out);
  }
}
