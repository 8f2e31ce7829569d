import AllViews
import ArgumentParser
import Assembly
import Catalogue
import FileTrees
import Tree

/// `ffmount formats`: prints the formats and their views as Markdown with aligned columns.
struct FormatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "formats", abstract: "Shows which files have which views, and the names of the views.",
    usage: "ffmount formats [--json | --mime | --thumbnailer]",
    discussion: "Prints a list on a terminal, and Markdown elsewhere.")

  @Flag(help: "Print a JSON object.")
  var json = false

  @Flag(help: "Print XML for shared-mime-info, so that desktops recognise the names of views.")
  var mime = false

  @Flag(help: "Print the thumbnailer file, by which file managers find ffmount thumbnail.") var thumbnailer = false

  func validate() throws {
    guard [json, mime, thumbnailer].count(where: { $0 }) < 2 else {
      throw ValidationError("only one of --json, --mime and --thumbnailer can be printed")
    }
  }

  func run() throws {
    if mime { return print(MimePackage.text) }
    if thumbnailer { return print(ThumbnailerEntry.text) }
    let views = Views.descriptions
    if json { return print(Self.document(views).document) }
    if Terminal.isOne() { FormatsList.show(views) } else { Self.showTables(views) }
    let missing = Self.missing
    if !missing.isEmpty { print() }
    for package in Converter.packages {
      let lacking = package.programs.filter { program in missing.contains { $0.program == program } }
      let programs = lacking.filter { OwnPrograms.path(of: $0) == nil }
      for program in lacking where !programs.contains(program) {
        show("\(Converter.lack(of: program)) (\(Converter.remedy([program])))")
      }
      if programs.isEmpty { continue }
      let list = programs.joined(separator: ", ")
      show("Not installed: \(list), for \(package.purpose) (\(Converter.remedy(programs)))")
    }
  }

  private func show(_ line: String) {
    print(Terminal.wrapped(line, columns: Terminal.isOne() ? Terminal.columns() : .max))
  }

  /// The programs that are not installed, and their conversions.
  private static var missing: [(program: String, verbs: [String])] {
    Converter.missing.map { program in
      (program, Catalogue.standard.conversions.filter { $0.programs.contains(program) }.map(\.verb))
    }
  }

  private static func document(_ views: [ViewDescription]) -> JSON {
    let shown = views.map { view -> JSON in
      [
        "view": .string(view.spelling), "result": .string(view.result), "sources": .string(view.sources),
        "listed": .array(view.listed.map { .string($0) }),
        "modifiers": .array(
          view.modifiers.map { ["example": .string($0.example), "meaning": .string($0.meaning)] }),
      ]
    }
    let missing = missing.map { program, verbs -> JSON in
      [
        "program": .string(program), "packages": .array(Converter.packages(lackingFor: program).map { .string($0) }),
        "makes": .array(verbs.map { .string($0) }),
      ]
    }
    return ["views": .array(shown), "missing": .array(missing)]
  }

  private static func showTables(_ views: [ViewDescription]) {
    Self.show(
      [["view", "content", "by name beside", "listed beside"]]
        + views.map { view in
          [
            "`\(view.spelling)`", view.result, view.sources, view.listed.map { "`*.\($0)`" }.joined(separator: ", "),
          ]
        })
    print()
    var modifiers: [(example: String, meaning: String, views: [String])] = []
    for view in views {
      for modifier in view.modifiers {
        if let known = modifiers.firstIndex(where: { $0.example == modifier.example && $0.meaning == modifier.meaning })
        {
          modifiers[known].views.append(view.spelling)
        } else {
          modifiers.append((modifier.example, modifier.meaning, [view.spelling]))
        }
      }
    }
    Self.show(
      [["modifier", "meaning", "of"]]
        + modifiers.map { ["`\($0.example)`", $0.meaning, $0.views.map { "`\($0)`" }.joined(separator: ", ")] })
  }

  /// Prints a table. The first row has the column names; the last column is not padded.
  private static func show(_ rows: [[String]]) {
    let widths = rows[0].indices.dropLast().map { column in rows.map { $0[column].count }.max() ?? 0 }
    for (number, row) in rows.enumerated() {
      print("| " + padded(row, widths, " ").joined(separator: " | ") + " |")
      if number == 0 {
        print("|" + padded(row.map { _ in "-" }, widths, "-").map { "\($0)--" }.joined(separator: "|") + "|")
      }
    }
  }

  private static func padded(_ row: [String], _ widths: [Int], _ filler: Character) -> [String] {
    row.enumerated().map { column, cell in
      column < widths.count ? cell + String(repeating: filler, count: widths[column] - cell.count) : cell
    }
  }
}
