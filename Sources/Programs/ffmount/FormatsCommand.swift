import AllViews
import ArgumentParser
import Catalogue
import Tree

/// `ffmount formats`: prints the formats and their views as Markdown with aligned columns.
struct FormatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "formats", abstract: "Shows which files have which views, and how these are called.",
    usage: "ffmount formats [--mime | --thumbnailer]")

  @Flag(help: "Print what desktops need to know the names of views: XML for shared-mime-info.") var mime = false

  @Flag(help: "Print the file by which file managers find ffmount thumbnail.") var thumbnailer = false

  func run() throws {
    if mime { return print(MimePackage.text) }
    if thumbnailer { return print(ThumbnailerEntry.text) }
    let views = Views.descriptions
    Self.show(
      [["view", "what it is", "by name beside", "listed beside"]]
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
    for program in Converter.missing {
      let verbs = Catalogue.standard.conversions.filter { $0.programs.contains(program) }.map(\.verb)
      print("\nNot installed: \(program), which makes \(verbs.joined(separator: ", ")) (see scripts/install)")
    }
  }

  /// Prints a table. The first row holds the column names; the last column is not padded.
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
