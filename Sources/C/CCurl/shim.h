// libcurl sets options and returns information only by variadic functions, which Swift cannot call. There is one
// function here for each argument type that is used.
#ifndef ZIGGURAT_CURL_H
#define ZIGGURAT_CURL_H

// The macros that check the types of arguments would check those of these functions instead.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

typedef size_t (*ziggurat_curl_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ziggurat_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ziggurat_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ziggurat_curl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ziggurat_curl_set_callback(CURL *easy, CURLoption option, ziggurat_curl_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ziggurat_curl_set_debug(CURL *easy, curl_debug_callback value) {
  return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

static inline CURLcode ziggurat_curl_set_progress(CURL *easy, curl_xferinfo_callback value) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode ziggurat_curl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ziggurat_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode ziggurat_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

#endif
