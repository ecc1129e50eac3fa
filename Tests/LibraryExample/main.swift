try storageExample()
try await buildingExample()
