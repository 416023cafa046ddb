#ifndef EXACT_CONFIG_H
#define EXACT_CONFIG_H
/* The session config entries "ep.exactexecutionprovider.<option>", which both faces read. Provider options of the plugin
 * reach it as the same entries. */
#include "ops.h"

/* The faces that need a rewrite of rewrites.def switched off. */
enum { PLUGIN = 1, CUSTOM = 2, BOTH = 3 };

typedef struct config {
  int mode;
  bool require_unmodified; /* unmodified_graph = require */
  bool folding_checked;    /* constant_folding = checked: the caller knows that no node of ours has only constant inputs */
  int opset;               /* of the model, for the custom-op library, which cannot see it; 0: not stated */
  bool overridden;         /* this session also has the custom-op library: the plugin then claims nothing */
  char error[256];         /* unknown option or value; empty if none */
  char missing[1024];      /* rewrites that the session has not switched off, joined by ';' */
} config;

/* From the entries of a session or a kernel. */
void config_read(const OrtApi *api, const OrtKeyValuePairs *entries, config *out);
/* From the session options of a host below API 23, which cannot list entries: known options only. */
void config_read_known(const OrtApi *api, const OrtSessionOptions *options, config *out);
/* The value of a session config entry; "" when absent. False when it does not fit. */
bool config_entry(const OrtApi *api, const OrtSessionOptions *options, const char *key, char *out, size_t size);

/* `name` is in a list joined by ';'. */
bool config_listed(const char *list, const char *name);

/* Set by the custom-op library on its sessions. */
#define CONFIG_OVERRIDDEN EXACT_CONFIG_PREFIX "custom_ops"
#define CONFIG_DISABLED "optimization.disable_specified_optimizers"

#endif
