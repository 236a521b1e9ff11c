import { decodeJson, stringifyJson } from '../codec/json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';

const hidden = 'REDACTED';
const hiddenBase64 = Buffer.from(hidden).toString('base64');
/** Values of Secrets whose form API servers check. */
const hiddenByKey: ReadonlyMap<string, string> = new Map([
  ['.dockerconfigjson', Buffer.from('{"auths":{}}').toString('base64')],
  ['.dockercfg', Buffer.from('{}').toString('base64')],
]);

const tokenKey = /token$|^authorization$/i;
const certificateKey = /(^|[._-])(ca[._-]?bundle|ca[._-]?data|(certificate|key)[._-](authority[._-])?data)$/i;
const passwordKey = /pass(word|wd|phrase)$|(api|private|client|access|shared|signing|webhook)[._-]?(key|secret)$/i;
const secretVariable = /pass(word|wd)?|secret|token|credential|(api|access|private)_?key/i;
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const pem = /-----BEGIN [A-Z0-9 ]+-----[A-Za-z0-9+/=\s-]*/g;
/** Begins with the base64 of "-----BEGIN ". */
const pemBase64 = /^LS0tLS1CRUdJTi/;
const pemBase64InText = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]*/g;
/** Every run of the characters of JSON web tokens, which are three parts with dots between them. */
const dottedWords = /[\w.-]+/g;
const firstPart = /eyJ[\w-]{8,}/;
/** A flag of a command with its value. It begins where no word does, so that each run of characters is read once. */
const flagWithValue = /(?<![\w-])(--?[\w-]+)(=| (?!-))("[^"]*"|'[^']*'|[^\s"']+)/g;
const flag = /^--?[\w-]+$/;
const secretFlag = /(pass(word|wd|phrase)?|secret|token|credentials?|(api|access|private)-?key)$/i;

interface RedactOptions {
  /** True for a request or an answer of the resource `secrets`. */
  readonly isSecret: boolean;
}

/** A copy without confidential values. */
interface Redacted {
  readonly value: JsonValue;
  /** True if a token or a certificate is missing, which a server would check. */
  readonly lacksCredential: boolean;
}

/** Hides tokens, passwords, certificates, keys and the data of Secrets. */
export function redact(value: JsonValue, { isSecret }: RedactOptions): Redacted {
  const redactor = new Redactor();
  return { value: redactor.any(value, isSecret), lacksCredential: redactor.lacksCredential };
}

/** Hides keys, certificates, tokens and values of flags such as --password in a text. */
export function redactText(text: string): string {
  return withoutFlagValues(withoutCredentials(text));
}

function withoutFlagValues(text: string): string {
  if (!text.includes('-')) return text;
  return text.replace(flagWithValue, (all, name: string, between: string) =>
    secretFlag.test(name) ? `${name}${between}${hidden}` : all,
  );
}

function withoutCredentials(text: string): string {
  const rest = text.replace(pem, hidden).replace(pemBase64InText, hiddenBase64);
  return rest.includes('eyJ') ? rest.replace(dottedWords, withoutTokens) : rest;
}

/** Reads each part once, unlike a pattern that may begin at every `eyJ`: its time would be quadratic. */
function withoutTokens(words: string): string {
  const parts = words.split('.');
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const [part = '', payload = '', signature] = parts.slice(at, at + 3);
    const isToken = signature !== undefined && payload.length >= 8 && firstPart.test(part);
    kept.push(isToken ? `${part.slice(0, part.indexOf('eyJ'))}${hidden}` : part);
    if (isToken) at += 2;
  }
  return kept.join('.');
}

class Redactor {
  lacksCredential = false;

  any(value: JsonValue, isSecret: boolean): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item, at) => this.item(item, value[at - 1], isSecret));
    return isJsonObject(value) ? this.object(value, isSecret) : value;
  }

  /** An item of a list, which may be the value of the flag before it. */
  private item(value: JsonValue, before: JsonValue | undefined, isSecret: boolean): JsonValue {
    const isFlagValue = typeof before === 'string' && flag.test(before) && secretFlag.test(before);
    return isFlagValue && typeof value === 'string' && !value.startsWith('-') ? hidden : this.any(value, isSecret);
  }

  private object(fields: JsonObject, inSecret: boolean): JsonObject {
    const { kind } = fields;
    const isSecret = inSecret || kind === 'Secret' || kind === 'SecretList';
    const isVariable = typeof fields['name'] === 'string' && secretVariable.test(fields['name']);
    const { op, path } = fields;
    const patchedPath = typeof op === 'string' && typeof path === 'string' ? path : undefined;
    const copy: JsonObject = {};
    for (const [key, value] of Object.entries(fields)) {
      if (isSecret && (key === 'data' || key === 'stringData')) copy[key] = hideValues(value, key === 'data');
      else if (patchedPath !== undefined && key === 'value') copy[key] = this.patchValue(patchedPath, value, isSecret);
      else if (isVariable && key === 'value' && typeof value === 'string') copy[key] = hidden;
      else copy[key] = typeof value === 'string' ? this.named(key, value, isSecret) : this.any(value, isSecret);
    }
    return copy;
  }

  private named(key: string, value: string, isSecret: boolean): string {
    if (value === '') return value;
    if (key === lastApplied) return this.embedded(value, isSecret);
    if (passwordKey.test(key)) return hidden;
    if (!tokenKey.test(key) && !certificateKey.test(key)) return this.text(value);
    this.lacksCredential = true;
    return hidden;
  }

  private text(text: string): string {
    const rest = pemBase64.test(text) ? hiddenBase64 : withoutCredentials(text);
    if (rest !== text) this.lacksCredential = true;
    return withoutFlagValues(rest);
  }

  /** The value of an operation of a JSON patch. */
  private patchValue(path: string, value: JsonValue, isSecret: boolean): JsonValue {
    const content = isSecret ? /^\/(data|stringData)(\/.*)?$/s.exec(path) : null;
    if (content) return hideValues(value, content[1] === 'data', content[2]?.slice(1));
    if (typeof value !== 'string') return this.any(value, isSecret);
    const key = path.slice(path.lastIndexOf('/') + 1);
    return this.named(key.replaceAll('~1', '/').replaceAll('~0', '~'), value, isSecret);
  }

  private embedded(text: string, isSecret: boolean): string {
    try {
      return stringifyJson(this.any(decodeJson(text), isSecret));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      return hidden;
    }
  }
}

/** Hides values of `data` or `stringData`. null, which removes a key in a merge patch, is kept. */
function hideValues(value: JsonValue, isBase64: boolean, key = ''): JsonValue {
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hideValues(one, isBase64, name)]));
  }
  if (value === null) return null;
  return isBase64 ? (hiddenByKey.get(key) ?? hiddenBase64) : hidden;
}
