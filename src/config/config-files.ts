import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CORE_SCHEMA, load } from 'js-yaml';

/** Root directory of the package. Sources and build output are at different depths below it. */
export const packageRoot: string = (() => {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'config/limits.yaml'))) {
    if (directory === dirname(directory)) throw new Error('config/limits.yaml is missing from the installation');
    directory = dirname(directory);
  }
  return directory;
})();

export type YamlMapping = Readonly<Record<string, unknown>>;

const read = new Map<string, YamlMapping>();

/** Reads a file of the package's config/ directory. */
export function ownYaml(name: string): YamlMapping {
  const mapping = read.get(name) ?? parseYamlMapping(readFileSync(join(packageRoot, 'config', name), 'utf8'));
  read.set(name, mapping);
  return mapping;
}

/** Parses a YAML mapping; throws if the text is anything else. */
export function parseYamlMapping(text: string): YamlMapping {
  const value = load(text, { schema: CORE_SCHEMA });
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error('the file must contain a mapping');
  return value as YamlMapping;
}
