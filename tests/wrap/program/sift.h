/* A sieve of numbers whose branches are rare in training, so that a profile changes its layout. */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
unsigned sift_score(unsigned x);
unsigned sift_rare(unsigned x, unsigned i);
unsigned sift_round(unsigned n);
#ifdef __cplusplus
}
#endif
