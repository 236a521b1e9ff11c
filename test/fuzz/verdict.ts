import { Catalog } from '../../src/catalog/catalog.js';
import { protobufEncoding } from '../../src/codec/protobuf.js';
import { decodeYaml } from '../../src/codec/yaml.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import type { FuzzRequest } from './requests.js';
import type { Outcome } from './raw-client.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const protobuf = protobufEncoding('application/vnd.kubernetes.protobuf', () => catalog);

/** Returns what is wrong with an answer, if anything. */
export function problemOf(request: FuzzRequest, outcome: Outcome): string | undefined {
  const isWhole = request.framing === undefined || request.framing === 'length' || request.framing === 'chunks';
  if (outcome === 'silent') return isWhole || request.framing === 'tooMuch' ? 'no answer' : undefined;
  if (outcome === 'closed') return isWhole ? 'the connection was closed without an answer' : undefined;
  const { code, headers, body, isStream } = outcome;
  if (code === 500 || code === 501 || code === 502) return `${code}: ${body.toString().slice(0, 400)}`;
  const type = headers.get('content-type') ?? '';
  if (isStream || request.method === 'HEAD' || body.length === 0) return undefined;
  if (type.startsWith('text/')) return undefined;
  let value: unknown;
  try {
    if (type.startsWith('application/json')) value = JSON.parse(body.toString());
    else if (type.startsWith('application/yaml')) value = decodeYaml(body, { findDuplicates: false }).value;
    else if (type === protobuf.mediaType) value = protobuf.decode(body).value;
    else if (type.startsWith('application/com.github.proto-openapi.')) return undefined;
    else return `an answer of type ${type}`;
  } catch (error) {
    return `not ${type}: ${(error as Error).message}: ${body.toString().slice(0, 200)}`;
  }
  return problemOfValue(code, value);
}

function problemOfValue(code: number, value: unknown): string | undefined {
  const { kind, status, code: told, reason, message, apiVersion } = (value ?? {}) as Record<string, unknown>;
  const shown = () => JSON.stringify(value).slice(0, 300);
  if (code < 400)
    return typeof kind === 'string' || isVersion(value) ? undefined : `neither object nor Status: ${shown()}`;
  const isStatus =
    kind === 'Status' &&
    apiVersion === 'v1' &&
    status === 'Failure' &&
    told === code &&
    typeof reason === 'string' &&
    typeof message === 'string';
  return isStatus ? undefined : `${code}, and not a Status that says so: ${shown()}`;
}

/** The few documents without a kind. */
function isVersion(value: unknown): boolean {
  const fields = Object.keys(value ?? {});
  return ['gitVersion', 'paths', 'swagger', 'openapi'].some((field) => fields.includes(field));
}
