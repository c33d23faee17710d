import { byId, element } from './elements.js';

const REFRESH_MS = 1000;

/**
 * Shows one view of the page at a time, optionally with the detail of an item. The fragment of the URL identifies both:
 * `#servers` or `#servers/ID`.
 *
 * @param {(view: string) => undefined | ((id: string) => Promise<Detail>)} detailOf returns the function that reads the detail of an
 *   item of a view
 * @param {() => Promise<void>} refresh reads the data of the page; called every second
 * @typedef {{ title: string, content: readonly unknown[], update?: () => Promise<void> }} Detail
 */
export function startViews(detailOf, refresh) {
  const links = [...document.querySelectorAll('.views [data-view]')];
  const names = links.map(({ dataset }) => dataset.view);
  let openedFrom;
  let update;

  function viewInAddress() {
    const [view, ...rest] = location.hash.slice(1).split('/');
    return names.includes(view) ? { view, id: rest.join('/') } : { view: names[0], id: '' };
  }

  function close(view) {
    const wasOpen = !byId('detail').hidden;
    byId('detail').hidden = true;
    byId('detail-body').replaceChildren();
    if (wasOpen) document.querySelector(`#${view} [data-key="${CSS.escape(openedFrom)}"] a`)?.focus();
  }

  async function go() {
    const { view, id } = viewInAddress();
    for (const name of names) byId(`view-${name}`).hidden = name !== view;
    for (const link of links)
      if (link.dataset.view === view) {
        link.setAttribute('aria-current', 'page');
        // On a phone, the links scroll.
        link.parentElement.scrollLeft = link.offsetLeft - 48;
      } else link.removeAttribute('aria-current');
    for (const row of document.querySelectorAll('tr.chosen')) row.classList.remove('chosen');
    byId('close').href = `#${view}`;
    update = undefined;
    const read = detailOf(view);
    if (id === '' || read === undefined) return close(view);
    openedFrom = id;
    const detail = await read(id).catch((error) => ({
      title: 'Not available',
      content: [element('p', { class: 'soft' }, error.message)],
    }));
    // Another item was selected in the meantime.
    if (viewInAddress().id !== id) return;
    document.querySelector(`#${view} [data-key="${CSS.escape(id)}"]`)?.classList.add('chosen');
    byId('detail-title').textContent = detail.title;
    byId('detail-body').replaceChildren(...detail.content.flat().filter(Boolean));
    byId('detail').hidden = false;
    byId('detail').scrollTop = 0;
    byId('detail-title').focus();
    update = detail.update;
  }

  async function loop() {
    if (byId('live').checked && !document.hidden) {
      await refresh();
      await update?.().catch(() => {});
    }
    setTimeout(loop, REFRESH_MS);
  }

  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && !byId('detail').hidden) location.hash = byId('close').hash;
  });
  window.addEventListener('hashchange', () => void go().then(refresh));
  void go().then(loop);
  return { go, view: () => viewInAddress().view };
}

/** Shows the number of a view's items in the link to the view. */
export function showCount(view, count) {
  document.querySelector(`.views [data-view=${view}] .count`).textContent = count || '';
}
