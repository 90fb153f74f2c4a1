int good_provide(void *parameters, unsigned size) {
  unsigned char *bytes = parameters;
  for (unsigned i = 0; i < size; ++i) bytes[i] = 0;
  return 0;
}
