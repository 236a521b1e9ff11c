import { spawnSync } from 'node:child_process';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** Finds a Chromium for tests of the console: that of KEELSON_CHROMIUM, or one on PATH. */
export function findChromium(): string | undefined {
  const chosen = process.env['KEELSON_CHROMIUM'];
  return (chosen ? [chosen] : names).find((name) => spawnSync(name, ['--version']).status === 0);
}

export const howToGetChromium = 'set KEELSON_CHROMIUM to a Chromium, or install it: apt-get install chromium';
