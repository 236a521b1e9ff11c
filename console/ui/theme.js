// The colour scheme: that of the system, or the one that the user chose. Only this choice is stored.

const key = 'keelson-theme';
const themes = ['auto', 'light', 'dark'];

function stored() {
  try {
    const value = localStorage.getItem(key);
    return themes.includes(value) ? value : 'auto';
  } catch {
    return 'auto';
  }
}

export function applyTheme(theme = stored()) {
  document.documentElement.dataset.theme = theme;
  return theme;
}

/** Switches between light and dark, beginning with the opposite of what is shown. */
export function toggleTheme() {
  const current = document.documentElement.dataset.theme;
  const systemIsDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const isDark = current === 'dark' || (current === 'auto' && systemIsDark);
  const next = isDark ? 'light' : 'dark';
  try {
    localStorage.setItem(key, next);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  return applyTheme(next);
}
