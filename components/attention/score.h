// Parameters of the packages of scores, for their device code and their host providers.
#pragma once

struct score_args {
  float before;    // what `score` multiplies products with
  float exponent;  // the core's exponents of two are scores times this
};
