import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type LoadOptions } from '../../src/config/load-config.js';
import type { ServerConfig } from '../../src/config/server-config.js';

/** Arguments, variables and the --config file of a server. */
export interface Given {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly defaults?: LoadOptions['defaults'];
}

/** Loads configurations with a file in a directory of the spec, which is removed after it. */
export function configLoader() {
  let directory: string;
  beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'config-'))));
  afterAll(() => rmSync(directory, { recursive: true }));
  const load = ({ argv = [], env = {}, file, defaults = 'keelson' }: Given) => {
    const path = join(directory, 'server.yaml');
    if (file !== undefined) writeFileSync(path, file);
    return loadConfig(file === undefined ? argv : [...argv, `--config=${path}`], env, { defaults });
  };
  const loaded = (given: Given): ServerConfig => {
    const result = load(given);
    if (result.errors) throw new Error(result.errors.join('\n'));
    return result.config;
  };
  /** Returns the errors, with paths below the directory. */
  const errorsOf = (given: Given) => load(given).errors?.map((error) => error.replaceAll(directory, ''));
  return { load, loaded, errorsOf };
}
