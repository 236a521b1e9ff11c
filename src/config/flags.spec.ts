import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './config-files.js';
import { flagTopics } from './flags/all-flags.js';

const sources = join(packageRoot, 'src');
const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !/^config\b/.test(file))
  .map((file) => new Set(readFileSync(join(sources, file), 'utf8').match(/\w+/g)));

/** Settings from which others are derived; nothing else reads them. */
const consumed = [
  'authentication.clientCaFile',
  'configFile',
  'log.verbosity',
  'naming.apiDomain',
  'naming.labelDomain',
  'naming.profile',
];

const keys = new Set(flagTopics.flatMap(({ flags }) => flags.flatMap(({ key }) => key ?? [])));
const lastName = (key: string) => key.split('.').at(-1)!;

// A name that two settings share (clientCaFile) must occur together with its parent (requestHeader).
test.each([...keys].filter((key) => !consumed.includes(key)))(
  'configuration property %s is used in the sources',
  (key) => {
    const isShared = [...keys].some((other) => other !== key && lastName(other) === lastName(key));
    const names = isShared ? key.split('.').slice(-2) : [lastName(key)];
    expect(texts.some((words) => names.every((name) => words.has(name)))).toBe(true);
  },
);
