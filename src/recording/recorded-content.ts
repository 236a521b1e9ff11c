import { Catalog } from '../catalog/catalog.js';
import { decodeJson } from '../codec/json.js';
import { protobufEncoding } from '../codec/protobuf.js';
import { decodeYaml } from '../codec/yaml.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import type { RecordedContent } from './recording-lines.js';
import { redact, redactText } from './redact.js';

const naming = namingProfile('kubernetes');
/** Bodies of built-in kinds, which Go programs send; they are recorded as JSON. */
export const protobuf = protobufEncoding(naming.protobufMediaType, () => new Catalog(naming));

/** Larger bodies are not recorded. */
export const contentBytesMax = 8 * 1024 * 1024;
/** YAML and protobuf are slower to read. */
const otherBytesMax = 1024 * 1024;

/** Subresources whose bodies are output of programs, which may be confidential. */
const outputPath = /\/(log|exec|attach|portforward|proxy)(\/|$)/;
const secretsPath = /\/secrets(\/|$)/;
const hiddenParameter = /token|password|secret|credential|api_?key/i;

interface Content {
  readonly contentType: string;
  /** Path of the request, with or without its query. */
  readonly path: string;
}

interface ReadContent {
  readonly content: RecordedContent;
  readonly lacksCredential: boolean;
}

/** Returns the body as it is recorded: without confidential values. */
export function recordedContent(bytes: Uint8Array, { contentType, path }: Content): ReadContent {
  const bare = decodedPath(path);
  const mediaType = contentType.replace(/;.*$/s, '').trim().toLowerCase();
  const omitted = (why: string) => ({ content: { omitted: why }, lacksCredential: false });
  if (bytes.length === 0) return { content: {}, lacksCredential: false };
  if (outputPath.test(bare)) return omitted('output of a program');
  if (bytes.length > contentBytesMax) return omitted(`more than ${contentBytesMax} bytes`);
  const decode = decoderOf(mediaType);
  if (decode) {
    if (decode !== decodeJson && bytes.length > otherBytesMax) {
      return omitted(`${mediaType} of more than ${otherBytesMax} bytes`);
    }
    try {
      const { value: json, lacksCredential } = redact(decode(bytes), { isSecret: secretsPath.test(bare) });
      return { content: { json }, lacksCredential };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      return omitted(`not readable as ${mediaType}`);
    }
  }
  if (mediaType.startsWith('text/')) {
    if (secretsPath.test(bare)) return omitted('text about a Secret');
    return { content: { text: redactText(Buffer.from(bytes).toString('utf8')) }, lacksCredential: false };
  }
  return omitted(mediaType || 'no content type');
}

function decoderOf(mediaType: string): ((bytes: Uint8Array) => JsonValue) | undefined {
  if (/[/+]json$/.test(mediaType)) return decodeJson;
  if (/[/+]yaml$/.test(mediaType)) return (bytes) => decodeYaml(bytes).value;
  return mediaType === protobuf.mediaType ? (bytes) => protobuf.decode(bytes).value : undefined;
}

/** True if the body of an answer is the output of a program. */
export const isOutputPath = (path: string): boolean => outputPath.test(decodedPath(path));

/** The path without its query, as a server reads it: `%73ecrets` is `secrets`. */
function decodedPath(path: string): string {
  const bare = path.replace(/\?.*$/s, '');
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

/** The path and query without values of tokens and passwords. */
export function recordedPath(path: string): string {
  const [bare = '', query] = path.split(/\?(.*)/s);
  if (query === undefined) return redactText(bare);
  const pairs = query.split('&').map((pair) => {
    const name = pair.replace(/=.*$/s, '');
    return name !== pair && hiddenParameter.test(name) ? `${name}=REDACTED` : pair;
  });
  return redactText(`${bare}?${pairs.join('&')}`);
}
