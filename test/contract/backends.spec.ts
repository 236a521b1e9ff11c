import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { builtInBackends } from '../../src/storage/backends.js';

it.each(builtInBackends)('the contract suite runs on the backend $name', ({ name }) =>
  expect(existsSync(join(__dirname, `kv-store.${name}.spec.ts`))).toBe(true),
);
