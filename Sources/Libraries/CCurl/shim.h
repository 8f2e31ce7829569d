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

static inline CURLcode ffmount_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

typedef int (*ffmount_curl_seeker)(void *context, curl_off_t offset, int origin);

static inline CURLcode ffmount_curl_set_seeker(CURL *easy, ffmount_curl_seeker value) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

static inline size_t ffmount_curl_abort(void) { return CURL_READFUNC_ABORT; }

typedef curl_socket_t (*ffmount_curl_opener)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode ffmount_curl_set_opener(CURL *easy, ffmount_curl_opener value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

// Returns the absolute URL of a reference in a response from another URL. Returns NULL if it is not valid. The caller
// frees it with curl_free. CURLINFO_REDIRECT_URL would contain the password of ~/.netrc.
static inline char *ffmount_curl_resolved(const char *base, const char *reference) {
  char *found = NULL;
  CURLU *url = curl_url();
  if (!url) return NULL;
  if (curl_url_set(url, CURLUPART_URL, base, 0) == CURLUE_OK &&
      curl_url_set(url, CURLUPART_URL, reference, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK)
    curl_url_get(url, CURLUPART_URL, &found, 0);
  curl_url_cleanup(url);
  return found;
}

static inline CURLMcode ffmount_curl_set_all(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

static inline CURLcode ffmount_curl_result(const CURLMsg *message) { return message->data.result; }

static inline size_t ffmount_curl_pause(void) { return CURL_WRITEFUNC_PAUSE; }

// A value of an enumeration in Debian 12, and a macro in Debian 13.
static inline long ffmount_curl_netrc_optional(void) { return CURL_NETRC_OPTIONAL; }
