/** What the gallery says. A translation is another module with the same names. */
export const text = {
  folders: 'Folders',
  all: 'All',
  sort: 'Order',
  orders: { '': 'By name', '-date': 'Newest first', date: 'Oldest first', '-added': 'Last added first', '-size': 'Largest first' },
  withoutDate: 'Without a date',
  moves: 'Animation',
  book: 'Book',
  private: 'Private',

  empty: 'No pictures yet.',
  emptyFolder: (folder) => `There are no pictures in “${folder}”.`,
  addPictures: 'Add pictures',
  nothingFound: (query) => `Nothing found for “${query}”.`,
  nothingFoundIn: (query, folder) => `Nothing found for “${query}” in “${folder}”.`,
  clearSearch: 'Clear the search',
  allFolders: 'Search everywhere',
  allPictures: 'All pictures',
  offline: 'You are offline. The pictures come as soon as you are back.',
}
