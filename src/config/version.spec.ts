import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './config-files.js';
import { apiVersion, minorsSince, previousRelease, productVersion, servedRelease, type Release } from './version.js';

test('productVersion equals package.json, and the API version has numeric major and minor', () => {
  const description = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  expect(productVersion).toBe(description.version);
  expect(apiVersion.gitVersion.startsWith(`v${apiVersion.major}.${apiVersion.minor}.`)).toBe(true);
  expect(`${apiVersion.major}${apiVersion.minor}`).toMatch(/^\d+$/);
});

test.each<[past: Release, release: Release, number]>([
  ['1.34', '1.37', 3],
  ['1.37', '1.37', 0],
  ['1.38', '1.37', -1],
  ['1.9', '1.10', 1],
  ['1.40', '2.0', Infinity],
  ['2.0', '1.40', -Infinity],
])('minor releases from %s to %s', (past, release, want) => {
  expect(minorsSince(past, release)).toBe(want);
});

test('previousRelease is one minor release before servedRelease', () => {
  expect([minorsSince(previousRelease), minorsSince(servedRelease)]).toEqual([1, 0]);
});
