import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { decodeYamlInSteps } from '../../codec/yaml.js';
import type { JsonValue } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';

const extensions: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** Returns the paths of the manifests in a directory, ordered by name. Rejects for one that is no file, or too large. */
export async function manifestFiles(directory: string, fileBytesMax: number): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory() && extensions.has(extname(entry.name).toLowerCase()))
    .map(({ name }) => join(directory, name))
    .sort();
  for (const path of paths) {
    const { size, ...stats } = await statOf(path);
    // Reading a named pipe or a device would never end.
    if (!stats.isFile) throw new Error(`${path} is not a regular file`);
    if (size > fileBytesMax) throw new Error(`${path} has more than ${fileBytesMax} bytes`);
  }
  return paths;
}

async function statOf(path: string): Promise<{ readonly size: number; readonly isFile: boolean }> {
  const stats = await stat(path);
  return { size: stats.size, isFile: stats.isFile() };
}

/** Decodes the documents of a manifest: YAML documents, or one JSON value. Throws for duplicate fields. */
export function* decodeManifest(bytes: Buffer, valuesMax: number): Steps<JsonValue[]> {
  const documents: JsonValue[] = [];
  for (const text of splitDocuments(bytes.toString('utf8'))) {
    const { value, duplicates } = yield* decodeYamlInSteps(Buffer.from(text), { findDuplicates: true, valuesMax });
    if (duplicates.length > 0) throw new Error(duplicates.join('; '));
    if (value !== null) documents.push(value);
    yield;
  }
  return documents;
}

/** Splits at lines that begin with `---`. */
function splitDocuments(text: string): string[] {
  const documents = [''];
  for (const line of text.split(/(?<=\n)/)) {
    if (!line.startsWith('---')) {
      documents[documents.length - 1] += line;
      continue;
    }
    const rest = line.slice(3).trim();
    if (rest !== '' && !rest.startsWith('#')) throw new Error(`invalid YAML document separator: ${rest.slice(0, 100)}`);
    documents.push('');
  }
  return documents.map((document) => document.trim()).filter((document) => document !== '');
}
