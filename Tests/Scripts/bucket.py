"""A small S3 server for tests: ListObjectsV2 and GetObject of buckets in memory. It verifies each signature by itself (Signature
Version 4), and refuses what a strict server refuses."""
import datetime
import email.utils
import hashlib
import hmac
import http.server
import re
import os
import threading
import urllib.parse
from xml.sax.saxutils import escape


class Object:
    def __init__(self, body, modified=1_700_000_000.25):
        self.body, self.modified = body, modified
        self.tag = '"' + hashlib.md5(body).hexdigest() + '"'


def digest(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        with server.lock:
            server.asked.append((self.command, self.path, self.headers.get("Range", ""), dict(self.headers)))
        problem = self.problem()
        if problem:
            return self.fail(*problem)
        raw, _, query = self.path.partition("?")
        path = urllib.parse.unquote_to_bytes(raw)
        host = self.headers["Host"].split(":")[0]
        if host.endswith(".localhost"):
            bucket, key = host[:-len(".localhost")], path[1:]
        else:
            name, _, key = path[1:].partition(b"/")
            bucket = name.decode()
        objects = server.buckets.get(bucket)
        if objects is None:
            return self.fail(404, "NoSuchBucket", "The specified bucket does not exist")
        if bucket in server.regions and self.region != server.regions[bucket]:
            return self.fail(400, "AuthorizationHeaderMalformed", "the region is wrong", f"<Region>{server.regions[bucket]}</Region>")
        if not key:
            return self.list(objects, dict(urllib.parse.parse_qsl(query, keep_blank_values=True, encoding="latin-1")))
        found = objects.get(key)
        if found is None:
            return self.fail(404, "NoSuchKey", "The specified key does not exist.")
        return self.send(found)

    do_HEAD = do_GET

    def problem(self):
        """The error for a bad signature; None for a good one."""
        server, given = self.server, self.headers.get("Authorization")
        self.region = ""
        if given is None:
            return None if server.is_public else (403, "AccessDenied", "Access Denied")
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})", given)
        if not found:
            return 400, "AuthorizationHeaderMalformed", given
        key, day, self.region, names, signature = found.groups()
        if key != server.key:
            return 403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."
        if self.headers.get("x-amz-security-token") != server.session:
            return 400, "ExpiredToken", "The provided token has expired."
        names = names.split(";")
        must = ["host"] + [name.lower() for name in self.headers if name.lower().startswith("x-amz-")]
        if names != sorted(names) or any(name not in names for name in must):
            return 403, "AccessDenied", f"There were headers present in the request which were not signed: {must}"
        time = self.headers["x-amz-date"]
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.strptime(time + "+0000", "%Y%m%dT%H%M%SZ%z")
        if abs(age.total_seconds()) > 900 or not time.startswith(day):
            return 403, "RequestTimeTooSkewed", time
        body = self.headers.get("x-amz-content-sha256")
        if body not in (hashlib.sha256(b"").hexdigest(), "UNSIGNED-PAYLOAD"):
            return 400, "XAmzContentSHA256Mismatch", f"{body}"
        raw, _, query = self.path.partition("?")
        if raw != urllib.parse.quote(urllib.parse.unquote_to_bytes(raw), safe="/-._~"):
            return 400, "InvalidURI", raw
        pairs = [word.partition("=")[::2] for word in query.split("&") if word]
        quoted = sorted((urllib.parse.quote(urllib.parse.unquote_to_bytes(name), safe="-._~"), urllib.parse.quote(urllib.parse.unquote_to_bytes(value), safe="-._~"))
                        for name, value in pairs)
        request = "\n".join([
            self.command, raw, "&".join(f"{name}={value}" for name, value in quoted),
            *(f"{name}:{' '.join(self.headers[name].split())}" for name in names), "", ";".join(names), body])
        scope = f"{day}/{self.region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(request.encode()).hexdigest()])
        signing = ("AWS4" + server.secret).encode()
        for part in (day, self.region, "s3", "aws4_request"):
            signing = digest(signing, part)
        if digest(signing, text).hex() != signature:
            return 403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."
        return None

    def list(self, objects, query):
        if query.get("list-type") != "2":
            return self.fail(400, "InvalidArgument", "list-type")
        prefix, delimiter = query.get("prefix", "").encode("latin-1"), query.get("delimiter", "").encode()
        token = "" if self.server.repeats else query.get("continuation-token", "")
        after = bytes.fromhex(token) or query.get("start-after", "").encode("latin-1")
        encoded = query.get("encoding-type") == "url"
        entries, more = [], None
        for key in sorted(objects):
            if not key.startswith(prefix):
                continue
            end = key.find(delimiter, len(prefix)) if delimiter else -1
            entry = key[:end + 1] if end >= 0 else key
            if entry <= after or entries and entries[-1][0] == entry:
                continue
            if len(entries) == self.server.page:
                more = entries[-1][0]
                break
            entries.append((entry, end >= 0))

        def name(key):
            # As AWS does: a blank is a plus.
            return urllib.parse.quote_plus(key, safe="/") if encoded else escape(key.decode())
        text = [f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<Name>x</Name><Prefix>{name(prefix)}</Prefix><KeyCount>{len(entries)}</KeyCount>"]
        if encoded:
            text.append("<EncodingType>url</EncodingType>")
        text.append(f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>")
        if more:
            token = os.urandom(8).hex() if self.server.repeats else more.hex()
            text.append(f"<NextContinuationToken>{token}</NextContinuationToken>")
        for key, is_prefix in entries:
            if is_prefix:
                text.append(f"<CommonPrefixes><Prefix>{name(key)}</Prefix></CommonPrefixes>")
            else:
                found = objects[key]
                time = datetime.datetime.fromtimestamp(found.modified, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
                text.append(f"<Contents><Key>{name(key)}</Key><LastModified>{time}</LastModified><ETag>{escape(found.tag, {chr(34): '&quot;'})}</ETag>"
                            f"<Size>{len(found.body)}</Size><StorageClass>STANDARD</StorageClass></Contents>")
        return self.say(200, ("".join(text) + "</ListBucketResult>").encode(), {"Content-Type": "application/xml"})

    def send(self, found):
        headers = {"Last-Modified": email.utils.formatdate(found.modified, usegmt=True), "ETag": found.tag, "Accept-Ranges": "bytes"}
        if self.headers.get("If-Match", found.tag) != found.tag:
            return self.fail(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        if self.headers.get("If-None-Match") == found.tag:
            return self.say(304, None, headers)
        size = len(found.body)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not wanted:
            return self.say(200, found.body, headers)
        first, last = int(wanted[1]), min(int(wanted[2] or size - 1), size - 1)
        if first >= size:
            return self.fail(416, "InvalidRange", "The requested range is not satisfiable")
        return self.say(206, found.body[first:last + 1], {**headers, "Content-Range": f"bytes {first}-{last}/{size}"})

    def fail(self, status, code, message, more="", headers=None):
        self.server.failures.append(code)
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{escape(message)}</Message>{more}</Error>'
        return self.say(status, body.encode(), {"Content-Type": "application/xml", **(headers or {})})

    def say(self, status, body, headers):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and body:
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Buckets(http.server.ThreadingHTTPServer):
    """`buckets` are objects by their keys; `asked` is what was requested, and `failures` the codes of the errors."""
    daemon_threads = True

    def __init__(self, key="AKIDEXAMPLE", secret="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", session=None, page=1000):
        super().__init__(("127.0.0.1", 0), Handler)
        self.buckets, self.regions, self.asked, self.failures = {}, {}, [], []
        self.key, self.secret, self.session, self.page, self.is_public = key, secret, session, page, False
        # Whether all pages of a listing are the first one, with other tokens.
        self.repeats = False
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self):
        self.shutdown()
        self.server_close()
