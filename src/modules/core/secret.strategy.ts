import { decodeJson } from '../../codec/json.js';
import type { Secret } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain, validateConfigKey } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { dataBytesMax, validateImmutable } from './config-map.strategy.js';
import { keyPairProblem } from './key-pair.js';

type DataRule = (data: ReadonlyMap<string, string>) => FieldError[];

export function secretStrategy(naming: NamingProfile): Strategy<Secret> {
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

  const validate = (secret: Secret): FieldError[] => {
    const data = new Map(Object.entries(secret.data ?? {}));
    const { type = '' } = secret;
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
      secret.type ||= 'Opaque';
      encodeStringData(secret);
    },
    validateCreate: validate,
    validateUpdate: (secret, old) => [
      ...(secret.type === old.type ? [] : [fieldError.invalid('type', secret.type, 'field is immutable')]),
      ...validateImmutable(secret, old, ['data']),
      ...validate(secret),
    ],
    warnings({ type, data = {} }) {
      if (type !== tls) return [];
      const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('latin1');
      const problem = keyPairProblem(text('tls.crt'), text('tls.key'));
      return problem === undefined ? [] : [problem];
    },
  };
}

/** Moves stringData, which is write-only, to data. Its values win over those of data with the same keys. */
function encodeStringData(secret: Mutable<Secret>): void {
  const texts = Object.entries(secret.stringData ?? {});
  delete secret.stringData;
  if (texts.length === 0) return;
  const encoded = texts.map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')] as const);
  // Object.fromEntries defines own properties, also for the key `__proto__`.
  secret.data = Object.fromEntries([...Object.entries(secret.data ?? {}), ...encoded]);
}

function hasKeys(...keys: string[]): DataRule {
  return (data) => keys.filter((key) => !data.has(key)).map((key) => fieldError.required(path('data').key(key)));
}

function isJson(key: string): DataRule {
  return (data) => {
    const at = path('data').key(key);
    const value = data.get(key);
    if (value === undefined) return [fieldError.required(at)];
    const bytes = Buffer.from(value, 'base64');
    try {
      decodeJson(bytes);
      return [];
    } catch {
      return [fieldError.invalid(at, '<secret contents redacted>', jsonProblem(bytes))];
    }
  };
}

/** Describes invalid JSON without the message of the parser, which would quote the secret. Quotes at most one character. */
function jsonProblem(bytes: Buffer): string {
  const text = bytes.toString('utf8').trimStart();
  if (text === '') return 'unexpected end of JSON input';
  if (/^[[{"\-0-9tfn]/.test(text)) return 'invalid JSON';
  return `invalid character '${String.fromCodePoint(text.codePointAt(0)!)}' looking for beginning of value`;
}
