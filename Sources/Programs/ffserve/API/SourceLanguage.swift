import Bytes

/// The language of a text for highlighting, by the name of its file.
enum SourceLanguage {
  /// Returns `nil` if the name is not that of a known kind of text.
  static func of(_ name: FileName) -> String? {
    if let ending = MediaType.ending(name), let known = byEnding[ending] { return known }
    return byName[String(decoding: name.bytes, as: UTF8.self).lowercased()]
  }

  private static let byName = [
    "makefile": "makefile", "gnumakefile": "makefile", "dockerfile": "dockerfile", "containerfile": "dockerfile",
    "cmakelists.txt": "cmake", "rakefile": "ruby", "gemfile": "ruby", "vagrantfile": "ruby", "jenkinsfile": "groovy",
    "readme": "plain", "license": "plain", "copying": "plain", "changelog": "plain", "authors": "plain",
    ".gitignore": "plain", ".gitattributes": "plain", ".dockerignore": "plain", ".editorconfig": "ini",
    ".bashrc": "bash", ".profile": "bash", ".zshrc": "bash", ".env": "bash", ".npmrc": "ini",
  ]

  /// The languages, each with its extensions.
  private static let all = """
    plain: txt text log out me nfo srt vtt sub tex bib ltx rst adoc asciidoc org pod diff patch rej
    plain: m3u m3u8 cue sum sha256 md5
    markdown: md markdown mdown mkd
    json: json jsonl ndjson json5 geojson webmanifest ipynb map
    yaml: yaml yml
    toml: toml lock
    ini: ini cfg conf properties service socket timer mount desktop env
    xml: xml xsl xslt xsd svg rss atom plist kml gpx wsdl resx
    html: html htm xhtml vue svelte astro
    css: css scss sass less
    javascript: js mjs cjs jsx
    typescript: ts tsx mts cts
    bash: sh bash zsh fish ksh bats
    powershell: ps1 psm1 psd1
    batch: bat cmd
    python: py pyi pyw pyx
    ruby: rb erb rake gemspec
    php: php phtml
    perl: pl pm t
    lua: lua
    r: r rmd
    go: go
    rust: rs
    java: java
    kotlin: kt kts
    scala: scala sbt
    groovy: groovy gradle
    clojure: clj cljs cljc edn
    lisp: lisp el scm rkt
    c: c h
    cpp: cc cpp cxx hpp hxx hh ino
    csharp: cs csx
    fsharp: fs fsx fsi
    swift: swift
    objectivec: m mm
    zig: zig
    nim: nim
    d: d
    dart: dart
    haskell: hs lhs
    ocaml: ml mli
    erlang: erl hrl
    elixir: ex exs
    julia: jl
    pascal: pas pp
    fortran: f f90 f95
    ada: adb ads
    assembly: s asm
    sql: sql
    graphql: graphql gql
    protobuf: proto
    cmake: cmake
    makefile: mk mak
    nix: nix
    hcl: tf tfvars hcl
    csv: csv tsv
    mail: eml
    vhdl: vhd vhdl
    verilog: v sv
    glsl: glsl vert frag
    """

  private static let byEnding: [String: String] = {
    var table: [String: String] = [:]
    for line in all.split(separator: "\n") {
      let parts = line.split(separator: ":")
      for ending in parts[1].split(separator: " ") { table[String(ending)] = String(parts[0]) }
    }
    return table
  }()
}
