import Bytes
import Catalogue
import Testing

@Suite struct RecipeTests {
  @Test(arguments: [
    "pages 7", "pages 2-5", "pages 1,3,9-", "pages 5-2", "jpeg ", "png 1600px.q70", "text", "reflowed",
    "compressed 150dpi.q60",
    "jpeg developed.frame3.crop=640x480+0+20.16:9.800x600.rot90.flip.mirror.tile2-3of4x3.gray.q70.500k.noexif",
  ])
  func recipesRoundTrip(_ text: String) {
    #expect(Recipe(text)?.description == text)
  }

  @Test(arguments: [
    "", "pages", "pages 0", "pages -3", "pages 1,,2", "jpeg", "wmf ", "jpeg q0", "jpeg q70.q80", "text ", "reflowed 5",
    "compressed",
    "compressed gray", "compressed 0dpi.q60", "pages +3", "pages 1-+3", "pages \u{664}", "pages 1 ", "jpeg gray.gray",
    "jpeg noexif.q70.noexif", "jpeg rot90.rot90", "jpeg 50%.100px", "jpeg q+5", "jpeg 100x+5",
    "jpeg crop=1x1", "jpeg crop=0x5+1+1", "jpeg crop=5x5+-1+0", "jpeg crop=5x5+01+0", "jpeg crop=5x5+1+1+1",
    "jpeg 16:0",
    "jpeg 16:9.4:3", "jpeg 1001:1", "jpeg 0k", "jpeg 01k", "jpeg 5k.6k", "jpeg frame0", "jpeg flip.flip",
    "jpeg tile0-1of2x2", "jpeg tile3-1of2x2", "jpeg tile1-1of65x1", "jpeg tile1-1",
    "compressed 50k.q60", "compressed flip",
  ])
  func invalidRecipesAreRefused(_ text: String) {
    #expect(Recipe(text) == nil)
  }

  @Test func modifiersAreNormalizedToOneOrder() {
    #expect(Recipe("jpeg noexif.q70.gray.rot90.50%")?.description == "jpeg 50%.rot90.gray.q70.noexif")
  }

  @Test func jobsAndAnswersRoundTrip() {
    let question = Job(number: 7, work: .count(verb: "pages"), start: 1, size: 2, document: 3, outputLimit: 0)
    #expect(Job(message: question.message) == question)
    let job = Job(number: .max, work: .make(.text), start: 0, size: Bounds.largestSize, outputLimit: 9)
    #expect(Job(message: job.message) == job)
    let series = Job(number: 8, work: .series(.text, count: 3), start: 0, size: 1, outputLimit: 9)
    #expect(Job(message: series.message) == series)
    let endless = Job(number: 8, work: .series(.text, count: 1000), start: 0, size: 1, outputLimit: 9)
    #expect(Job(message: endless.message) == nil)
    let done = JobAnswer(number: 7, outcome: .done(12))
    #expect(JobAnswer(message: done.message) == done)
    let remarked = JobAnswer(number: 7, outcome: .done(12, remark: "is not changed: it is signed"))
    #expect(JobAnswer(message: remarked.message) == remarked)
    let failed = JobAnswer(number: 7, outcome: .failed(.locked, reason: "asks for a password"))
    #expect(JobAnswer(message: failed.message) == failed)
  }

  @Test func malformedWorkerMessagesAreRefused() {
    let job = Job(number: 1, work: .make(.text), start: 0, size: 10, outputLimit: 9)
    #expect(Job(message: []) == nil)
    #expect(Job(message: Array(job.message.dropFirst())) == nil)
    #expect(Job(message: job.message + [0xFF]) == nil)
    var negative = job.message
    negative[15] = 0x80
    #expect(Job(message: negative) == nil)
    var answer = JobAnswer(number: 7, outcome: .done(12)).message
    answer[8] = 200
    #expect(JobAnswer(message: answer) == nil)
  }

  @Test func outOfRangeNumbersAreRefusedOrClamped() {
    for (start, size) in [
      (Int64.max, Int64(1)), (0, .max), (.max, .max), (-1, 5), (5, -1), (0, Bounds.largestSize + 1),
    ] {
      let job = Job(number: 1, work: .count(verb: "pages"), start: start, size: size, outputLimit: 9)
      #expect(Job(message: job.message) == nil, "\(start) \(size)")
    }
    for number in [-1, Int64.min] {
      #expect(JobAnswer(message: JobAnswer(number: 7, outcome: .done(number)).message) == nil, "\(number)")
    }
    for number in [Int64.max, Bounds.largestSize + 1] {
      let answer = JobAnswer(message: JobAnswer(number: 7, outcome: .done(number)).message)
      #expect(answer?.outcome == .done(Bounds.largestSize), "\(number)")
    }
  }
}
