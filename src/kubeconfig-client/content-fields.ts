import { resolve } from 'node:path';
import type { CheckedFields } from './checked-fields.js';
import type { Content } from './kubeconfig.js';

/** Parses a pair of fields such as `client-key-data` and `client-key`, of which the first is preferred. */
export function parseContent(fields: CheckedFields, name: string, directory: string): Content | undefined {
  const data = fields.text(`${name}-data`);
  const file = fields.text(name);
  if (data === undefined) return file === undefined ? undefined : { file: resolve(directory, file) };
  const base64 = data.replace(/[\r\n]/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw fields.wrong(`${name}-data`, 'must be in base64');
  }
  return { data: Buffer.from(base64, 'base64') };
}
