import { decodeJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields, asText, asTextMap, fillInZero, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateConfigKey } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { dataBytesMax, validateImmutable } from './config-map.strategy.js';
import { keyPairProblem } from './key-pair.js';

type DataRule = (data: ReadonlyMap<string, string>) => FieldError[];

export function secretStrategy(naming: NamingProfile): Strategy {
  const accountAnnotation = naming.label('service-account.name');
  const accountToken = naming.label('service-account-token');
  const tls = naming.label('tls');
  const rules: Readonly<Record<string, DataRule>> = {
    [naming.label('dockercfg')]: isJson('.dockercfg'),
    [naming.label('dockerconfigjson')]: isJson('.dockerconfigjson'),
    [tls]: hasKeys('tls.crt', 'tls.key'),
    [naming.label('ssh-auth')]: hasKeys('ssh-privatekey'),
    [naming.label('basic-auth')]: (data) =>
      data.has('username') || data.has('password') ? [] : hasKeys('username', 'password')(data),
  };

  const validate = (secret: KubeObject): FieldError[] => {
    const data = new Map(asTextMap(secret['data']));
    const type = asText(secret['type']);
    const errors: FieldError[] = [];
    let bytes = 0;
    for (const [key, value] of data) {
      errors.push(...checked(key, path('data').key(key), validateConfigKey));
      bytes += Buffer.byteLength(value, 'base64');
    }
    if (bytes > dataBytesMax) errors.push(fieldError.tooLong('data', dataBytesMax));
    if (type === accountToken) {
      const at = path('metadata').child('annotations').key(accountAnnotation);
      errors.push(...required(secret.metadata.annotations?.[accountAnnotation], at));
    }
    return Object.hasOwn(rules, type) ? [...errors, ...rules[type]!(data)] : errors;
  };

  return {
    validateName: nameIsDnsSubdomain,
    default(secret) {
      fillInZero(secret, 'type', 'Opaque');
      takeTexts(secret);
    },
    validateCreate: validate,
    validateUpdate: (secret, old) => [
      ...(secret['type'] === old['type'] ? [] : [fieldError.invalid('type', secret['type'], 'field is immutable')]),
      ...validateImmutable(secret, old, ['data']),
      ...validate(secret),
    ],
    warnings(secret) {
      if (secret['type'] !== tls) return [];
      const data = asFields(secret['data']);
      const text = (field: string) => Buffer.from(asText(data[field]), 'base64').toString('latin1');
      const problem = keyPairProblem(text('tls.crt'), text('tls.key'));
      return problem === undefined ? [] : [problem];
    },
  };
}

/** stringData is for writing only: its texts win over the same keys of data, and it is never stored. */
function takeTexts(secret: KubeObject): void {
  const texts = asTextMap(secret['stringData']);
  delete secret['stringData'];
  if (texts.length === 0) return;
  const encoded = texts.map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')] as const);
  // fromEntries defines own properties, whatever they are called.
  secret['data'] = Object.fromEntries([...Object.entries(asFields(secret['data'])), ...encoded]);
}

function hasKeys(...keys: string[]): DataRule {
  return (data) =>
    keys.filter((key) => !data.has(key)).map((key) => fieldError.required(String(path('data').key(key))));
}

function isJson(key: string): DataRule {
  return (data) => {
    const at = String(path('data').key(key));
    const value = data.get(key);
    if (!isSet(value)) return [fieldError.required(at)];
    try {
      decodeJson(Buffer.from(value!, 'base64'));
      return [];
    } catch {
      return [fieldError.invalid(at, '<secret contents redacted>', jsonProblem(Buffer.from(value!, 'base64')))];
    }
  };
}

/** What a parser says quotes what it read; of a secret, one character must do. */
function jsonProblem(bytes: Buffer): string {
  const text = bytes.toString('utf8').trimStart();
  if (text === '') return 'unexpected end of JSON input';
  if (/^[[{"\-0-9tfn]/.test(text)) return 'invalid JSON';
  return `invalid character '${String.fromCodePoint(text.codePointAt(0)!)}' looking for beginning of value`;
}
