// swift-tools-version: 6.0
import PackageDescription

// Warnings become errors on the command line (see the Makefile): a package with unsafe flags could not
// be anyone's dependency.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
]

func library(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
  .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

// The arrows point one way: builder and server meet only in the store.
let package = Package(
  name: "ziggurat",
  products: [
    .library(name: "TileGeometry", targets: ["TileGeometry"]),
    .library(name: "TileStorage", targets: ["TileStorage"]),
    .library(name: "PyramidBuilding", targets: ["PyramidBuilding"]),
    .executable(name: "ziggurat", targets: ["ziggurat"]),
  ],
  targets: [
    .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
    .systemLibrary(
      name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
    .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(name: "CTIFF", pkgConfig: "libtiff-4", providers: [.apt(["libtiff-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg62-turbo-dev"])]),
    // The one C target: see the top of its header for why it cannot be Swift.
    .target(name: "CJPEGStream", dependencies: ["CJPEG"]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CCell"),
    library("Cells", ["CCell", "CSeccomp"]),
    library("TileGeometry"),
    library("TileStorage", ["TileGeometry", "CDeflate", "CExpat"]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    library("PrivateSpaces", ["CSodium", "CCrypto", "TileStorage", "TileGeometry"], exclude: ["README.md"]),
    .systemLibrary(name: "CLCMS", pkgConfig: "lcms2", providers: [.apt(["liblcms2-dev"])]),
    .systemLibrary(name: "CHEIF", pkgConfig: "libheif", providers: [.apt(["libheif-dev"])]),
    library("Imaging", ["Cells", "CVips", "CLCMS", "CHEIF"]),
    .systemLibrary(name: "CGExiv2", pkgConfig: "gexiv2", providers: [.apt(["libgexiv2-dev"])]),
    library("Metadata", ["Cells", "TileStorage", "CGExiv2"]),
    library(
      "PyramidBuilding",
      [
        "CCell", "Cells", "Imaging", "Metadata", "TileStorage", "TileGeometry", "CDeflate", "CISAL",
        "CJPEGStream",
        "CTIFF",
        "CTurboJPEG", "CWebP",
        "CXXHash",
      ]),
    .systemLibrary(
      name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    library("TileRendering", ["CCell", "Cells", "Imaging", "TileStorage", "TileGeometry", "CTurboJPEG"]),
    library("TileExport", ["TileRendering", "TileStorage", "TileGeometry"]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    library("Catalog", ["CSQLite", "TileStorage", "TileGeometry"]),
    library(
      "TileServing",
      [
        "Catalog", "Cells", "Metadata", "Uploading", "CFileSystems", "CQREncode", "TileRendering",
        "TileStorage",
        "TileGeometry",
        "CDeflate", "CSodium",
        "CXXHash",
      ]),
    .systemLibrary(name: "CFileSystems"),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    library("Uploading", ["TileStorage"]),
    library("HTTPListening", ["TileServing", "TileStorage", "CMicroHTTPD"]),
    .executableTarget(
      name: "ziggurat",
      dependencies: [
        "Cells", "Imaging", "PyramidBuilding", "PrivateSpaces", "HTTPListening", "Uploading", "TileServing",
        "Catalog",
        "Metadata", "TileRendering", "TileExport",
        "TileStorage", "TileGeometry",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "cell-probe", dependencies: ["Cells", "CCell"], path: "Tests/CellProbe", swiftSettings: strict),
    tests("CellsTests", ["Cells", "cell-probe", "TestSupport"]),
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    tests("TileGeometryTests", ["TileGeometry", "TestSupport"]),
    tests("TileStorageTests", ["TileStorage", "TileGeometry", "TestSupport"]),
    tests("PrivateSpacesTests", ["PrivateSpaces", "CSodium", "TileStorage", "TileGeometry", "TestSupport"]),
    tests("CatalogTests", ["Catalog", "CSQLite", "TileStorage", "TileGeometry", "TestSupport"]),
    tests("UploadingTests", ["Uploading", "TestSupport"]),
    tests("MetadataTests", ["Metadata", "TileStorage", "TestSupport"]),
    tests(
      "PyramidBuildingTests",
      ["PyramidBuilding", "Catalog", "Imaging", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "TileExportTests",
      ["TileExport", "PyramidBuilding", "Imaging", "TileStorage", "TileGeometry", "TestSupport"]),
    tests("ZigguratTests", ["ziggurat", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "TileRenderingTests",
      ["TileRendering", "PyramidBuilding", "Imaging", "TileStorage", "TileGeometry", "TestSupport"]),
    tests(
      "TileServingTests",
      ["TileServing", "TileRendering", "TileStorage", "TileGeometry", "TestSupport", "Uploading"]),
  ],
  swiftLanguageModes: [.v6]
)

// libFuzzer brings a main function along and instruments every module, so its program is there for
// `make fuzz` alone.
if Context.environment["ZIGGURAT_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "reader-fuzz",
      dependencies: [
        "PyramidBuilding", "TileRendering", "Metadata", "Cells", "Imaging", "TileStorage", "TileGeometry",
        "CISAL",
      ], path: "Tests/fuzz",
      exclude: ["fuzz", "seeds.py"], swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}
