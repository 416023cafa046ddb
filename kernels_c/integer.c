/* What the operators on products of 8-bit integers share besides the kernels: checks, and single scales and zero points. */
#include "integer.h"

#include "half.h"
#include "quantize.h"

void exact_integer_ones(const struct exact_integer_kernels *k, size_t n, uint32_t *ones) {
  const uint32_t every = k->group == 4 ? 0x01010101u : 0x00010001u;
  const unsigned bits = 32 / (unsigned)k->group;
  for (size_t i = 0; i < n / k->group; i++) ones[i] = every;
  if (n % k->group) ones[n / k->group] = every >> bits * (unsigned)(k->group - n % k->group);
}

float exact_integer_scale(const void *array, int dtype, size_t i) {
  float one = 1;
  if (array) exact_load_row(&one, (const char *)array + i * exact_dtype_size(dtype), 1, dtype);
  return one;
}

int32_t exact_integer_zero(const void *array, size_t i, exact_form form) {
  const uint8_t *bytes = array;
  /* The number 0 of the tensor's type has the byte 0. */
  return exact_form_value(form, bytes ? bytes[i] : 0);
}

int32_t exact_integer_y_zero(const void *array, int dtype) {
  return dtype == EXACT_INT8 ? *(const int8_t *)array : *(const uint8_t *)array;
}

int exact_integer_types(const exact_tensor *x, const char *what, const exact_tensor *zero, exact_error *err) {
  if (!exact_is_byte(x->dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "%s has the element type %s", what, exact_dtype_name(x->dtype));
  if (zero->dtype && zero->dtype != x->dtype)
    return exact_fail(err, EXACT_INVALID, "%s_zero_point has the element type %s, %s itself %s", what,
                      exact_dtype_name(zero->dtype), what, exact_dtype_name(x->dtype));
  return EXACT_OK;
}

int exact_integer_scales(const exact_tensor *const scale[3], const exact_tensor *y_zero, exact_error *err) {
  for (int i = 0; i < 3; i++)
    if (!exact_is_scale(scale[i]->dtype))
      return exact_fail(err, EXACT_UNSUPPORTED, "a scale has the element type %s", exact_dtype_name(scale[i]->dtype));
  if (!exact_is_byte(y_zero->dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "y_zero_point has the element type %s", exact_dtype_name(y_zero->dtype));
  for (int i = 0; i < 2; i++)
    if (!exact_is_one(i ? y_zero : scale[2]))
      return exact_fail(err, EXACT_INVALID, "%s must hold one number", i ? "y_zero_point" : "y_scale");
  return EXACT_OK;
}
