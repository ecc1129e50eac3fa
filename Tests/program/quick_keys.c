// Loaded in front of libsodium (LD_PRELOAD), makes keys of passwords by Argon2id's least work. Keys that were made
// without it do not open with it. Without libsodium's headers, which only builds need.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int crypto_pwhash(unsigned char *out, unsigned long long outlen, const char *passwd, unsigned long long passwdlen,
                  const unsigned char *salt, unsigned long long opslimit, size_t memlimit, int alg) {
  static int (*real)(unsigned char *, unsigned long long, const char *, unsigned long long, const unsigned char *,
                     unsigned long long, size_t, int);
  if (!real) real = dlsym(RTLD_NEXT, "crypto_pwhash");
  (void)opslimit, (void)memlimit;
  return real(out, outlen, passwd, passwdlen, salt, 1, 8192, alg);
}
