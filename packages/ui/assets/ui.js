// Copies code to the clipboard, and selects the same tab in the code samples of all pages.
const KEY = 'code-tab';

function rememberedLabel() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Selects the remembered tab in each tab group inside an element, if the group contains that tab. */
export function restoreTabs(root = document) {
  const label = rememberedLabel();
  if (label === null) return;
  for (const input of root.querySelectorAll('.tabs[data-remember] input[type=radio]'))
    if (input.value === label) input.checked = true;
}

/** Copies text to the clipboard, and shows the result on the button for 1.5 seconds. */
export async function copyText(text, button) {
  const { label } = button.dataset;
  button.dataset.label = label ?? button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not allowed';
  }
  setTimeout(() => {
    button.textContent = button.dataset.label;
  }, 1500);
}

document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs[data-remember] input[type=radio]')) return;
  try {
    localStorage.setItem(KEY, target.value);
  } catch {
    // Storage is disabled: the selection is not remembered.
  }
  for (const tabs of document.querySelectorAll('.tabs[data-remember]'))
    if (!tabs.contains(target)) restoreTabs(tabs.parentElement);
});

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('.copy');
  if (button) void copyText(button.parentElement.querySelector('code').textContent, button);
});

restoreTabs();
