import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './config-files.js';
import { apiVersion, productVersion } from './version.js';

test('the version is that of the package, and clients get digits', () => {
  const description = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  expect(productVersion).toBe(description.version);
  expect(apiVersion.gitVersion.startsWith(`v${apiVersion.major}.${apiVersion.minor}.`)).toBe(true);
  expect(`${apiVersion.major}${apiVersion.minor}`).toMatch(/^\d+$/);
});
