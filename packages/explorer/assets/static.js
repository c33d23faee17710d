// Comparison and search in a static site.

const main = document.querySelector('main');

/** Of the changes between the selected versions, shows only those that match the filter. */
function compare(place) {
  const form = place.querySelector('form');
  const { from, to, operation, kind, breaking } = form.elements;
  const order = [...to.options].map(({ value }) => value);
  const steps = [...main.querySelectorAll('[data-step]')];
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = form.elements[name];
    if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = true;
    else if (field) field.value = value;
  }
  const apply = () => {
    const ends = [order.indexOf(from.value), order.indexOf(to.value)].sort((a, b) => a - b);
    const words = operation.value.toLowerCase().split(/\s+/);
    const isSelected = (change) =>
      (!breaking.checked || 'breaking' in change.dataset) &&
      (kind.value === '' || change.dataset.kind === kind.value) &&
      words.every((word) => change.textContent.toLowerCase().includes(word));
    const operations = new Set();
    const incompatible = new Set();
    for (const step of steps) {
      const index = order.indexOf(step.dataset.step);
      const isBetween = index > ends[0] && index <= ends[1];
      for (const change of step.querySelectorAll('.change')) {
        change.hidden = !(isBetween && isSelected(change));
        if (change.hidden) continue;
        operations.add(change.dataset.operation);
        if ('breaking' in change.dataset) incompatible.add(change.dataset.operation);
      }
      for (const group of step.querySelectorAll('section'))
        group.hidden = !group.querySelector('.change:not([hidden])');
      step.hidden = !step.querySelector('.change:not([hidden])');
    }
    place.querySelector('[data-count]').textContent =
      `${operations.size} operations differ, ${incompatible.size} with breaking changes.`;
  };
  form.addEventListener('input', apply);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    history.replaceState(null, '', `?${new URLSearchParams(new FormData(form))}`);
    apply();
  });
  place.hidden = false;
  apply();
}

/** Maximum number of operations, and of versions, in the results. */
const MOST = { operations: 30, versions: 5 };

/** Removes a plural `s`, because the index contains words without it. */
const stem = (word) => (word.length > 3 ? word.replace(/(?<=[^s])s$/, '') : word);

const isOfVersion = ({ href }) => href.startsWith('versions/');

function element(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

function resultItem({ title, href, detail = '', window: span }) {
  const item = element('li', '');
  item.append(element('a', title, { href }), ' ');
  if (span) item.append(element('span', span, { className: 'chip chip-info' }), ' ');
  item.append(element('span', detail, { className: 'soft small' }));
  return item;
}

/** Shows results for the words in the search field while a visitor types. */
async function search(place) {
  const count = main.querySelector('[data-search-count]');
  const field = document.querySelector('.search input[type=search]');
  field.value = new URLSearchParams(location.search).get('q') ?? '';
  let index;
  const ignored = new Set();
  const versions = new Map();
  try {
    const [{ default: MiniSearch }, data] = await Promise.all([
      import('./minisearch.js'),
      fetch(new URL('../search.json', import.meta.url)).then((response) => response.json()),
    ]);
    index = new MiniSearch({
      fields: ['name', 'summary', 'description', 'fields', 'statuses'],
      storeFields: ['title', 'href', 'detail', 'window'],
      tokenize: (text) => text.split(' '),
    });
    index.addAll(data.entries);
    for (const word of data.ignored) ignored.add(word);
    for (const entry of data.entries.filter(isOfVersion)) versions.set(entry.name, entry);
  } catch {
    count.textContent = 'Search requires a web server: browsers do not load the index from files.';
    return;
  }
  const options = {
    prefix: true,
    fuzzy: (term) => (/^[a-z_]{4,}$/.test(term) ? (term.length < 5 ? 1 : 2) : false),
    boost: { name: 4, summary: 6, description: 2 },
    tokenize: (text) => text.split(' '),
  };
  const wordsOf = (text) =>
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}._]+/u)
      .map((word) => word.replace(/^\.+|\.+$/g, ''))
      .filter((word) => word !== '' && !ignored.has(word));

  /**
   * Returns the search results: a comparison of the versions that the query names, these versions, and the matching
   * versions and operations.
   */
  function resultsOf(query) {
    const words = wordsOf(query);
    const named = [...versions.keys()].filter((version) => words.includes(version));
    const [from, to] = named;
    const text = words.filter((word) => !versions.has(word)).map(stem);
    const find = (filter, combineWith) =>
      text.length === 0 ? [] : index.search(text.join(' '), { ...options, filter, combineWith });
    const isOperation = (entry) => !isOfVersion(entry);
    const all = find(isOperation, 'AND');
    return [
      ...(to === undefined
        ? []
        : [{ title: `Changes from ${from} to ${to}`, href: `changes.html?from=${from}&to=${to}` }]),
      ...named.map((version) => versions.get(version)),
      ...find(isOfVersion, 'AND').slice(0, MOST.versions),
      ...(all.length > 0 ? all : find(isOperation, 'OR')).slice(0, MOST.operations),
    ];
  }

  const show = () => {
    const query = field.value.trim();
    const found = resultsOf(query);
    place.replaceChildren(...found.map(resultItem));
    count.textContent =
      query === ''
        ? 'Enter words from an operation, a field, a description or a version.'
        : `${found.length} results for “${query}”.`;
    history.replaceState(null, '', query === '' ? location.pathname : `?q=${encodeURIComponent(query)}`);
  };
  field.addEventListener('input', show);
  field.form.addEventListener('submit', (event) => {
    event.preventDefault();
    show();
  });
  show();
}

const comparison = main.querySelector('[data-compare]');
if (comparison) compare(comparison);
const results = main.querySelector('[data-results]');
if (results) void search(results);
