import TestSupport
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: Conformance.cases) func treeKeepsTheContract(_ rule: ConformanceCase) throws {
    try rule.run { source, rule in
      try TreeInProcess(source, file: rule.file, options: rule.options, keepsNodes: true)
    }
  }

  @Test(arguments: Conformance.cases) func treeKeepsTheContractWithLittleMemory(_ rule: ConformanceCase) throws {
    try rule.run { source, rule in
      try TreeInProcess(source, file: rule.file, options: rule.options, descriptors: 1, keepsNodes: false)
    }
  }
}
