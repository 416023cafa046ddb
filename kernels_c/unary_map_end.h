/* After the last MAP of a TYPE. */
#undef T
#undef V
#undef M
#undef B
#undef NAME
#undef WIDTH
#undef PICK
#undef CANONICAL
#undef MAP
#undef COMPOSED
#undef TYPE
