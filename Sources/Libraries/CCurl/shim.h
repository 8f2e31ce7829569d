#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// C, because libcurl's setters and getters take any number of arguments, which Swift cannot call.
static inline CURLcode ffmount_curl_set(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ffmount_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ffmount_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

typedef size_t (*ffmount_curl_taker)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ffmount_curl_set_taker(CURL *easy, CURLoption option, ffmount_curl_taker value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLMcode ffmount_curl_set_all(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

static inline CURLcode ffmount_curl_result(const CURLMsg *message) { return message->data.result; }

static inline size_t ffmount_curl_pause(void) { return CURL_WRITEFUNC_PAUSE; }
