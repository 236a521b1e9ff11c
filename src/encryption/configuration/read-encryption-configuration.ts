import { YAMLException } from 'js-yaml';
import { parseYamlMapping } from '../../config/config-files.js';
import { FlagError } from '../../config/flag-error.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ConfigReader } from '../../machinery/config-reader.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isSet, type Fields } from '../../machinery/fields.js';
import type { KeyedProviderName, NamedKey } from '../providers/keyed-provider.js';
import type { EncryptionConfiguration, ProviderConfiguration, ResourceRule } from './encryption-configuration.js';
import { readKms, type KmsNames } from './read-kms.js';
import { maskedProblem, parseResource, resourceErrors, ruleName } from './resource-names.js';

const flag = 'encryption-provider-config';

interface ReadOptions {
  readonly file: string;
  readonly naming: NamingProfile;
}

/** Lengths of keys in bytes. */
const keyLengths: Readonly<Record<KeyedProviderName, readonly number[]>> = {
  aesgcm: [16, 24, 32],
  aescbc: [16, 24, 32],
  secretbox: [32],
};
const providerTypes = ['aesgcm', 'aescbc', 'secretbox', 'identity', 'kms'] as const;

/**
 * Reads and checks the file, with the fields and texts of kube-apiserver. Throws a FlagError with all problems, also for
 * unknown fields. No problem shows a key: neither its value nor the lines around an error of the syntax.
 */
export function readEncryptionConfiguration(text: string, { file, naming }: ReadOptions): EncryptionConfiguration {
  const problems: string[] = [];
  const root = new ConfigReader(parse(text, file), '', problems);
  const rules: ResourceRule[] = [];
  if (root.hasKind('EncryptionConfiguration', [`${naming.group('apiserver.config')}/v1`])) {
    root.allowOnly('apiVersion', 'kind', 'resources');
    const at = path('resources');
    const entries = root.mappings('resources');
    const list = new RuleList(problems, naming);
    if (entries.length === 0) list.add(fieldError.required(at, 'at least one resources is required'));
    for (const [index, entry] of entries.entries()) rules.push(list.read(entry, at.index(index)));
    if (problems.length === 0) problems.push(...maskedProblems(rules));
  }
  if (problems.length > 0) throw new FlagError(flag, problems, file);
  return { rules };
}

function parse(text: string, file: string): Fields {
  if (text === '') throw new FlagError(flag, ['the file is empty'], file);
  try {
    return { ...parseYamlMapping(text) };
  } catch (error) {
    // The message has the lines around the error, which may be keys.
    const { reason, mark } = error instanceof YAMLException ? error : { reason: 'not a mapping', mark: undefined };
    const where = mark ? ` in line ${mark.line + 1}` : '';
    throw new FlagError(flag, [`cannot be read: ${withoutQuotes(String(reason))}${where}`], file);
  }
}

/** Leaves out what a parser quotes from the file. */
const withoutQuotes = (reason: string): string => reason.replace(/(["'`]).*\1/gs, '…');

function maskedProblems(rules: readonly ResourceRule[]): string[] {
  const earlier = new Set<string>();
  for (const { resources } of rules) {
    for (const name of resources) {
      const problem = maskedProblem(parseResource(name), earlier);
      if (problem !== undefined) return [problem];
      earlier.add(name);
    }
  }
  return [];
}

/** Reads the entries of `resources`, one after the other. */
class RuleList {
  private readonly kmsNames: KmsNames = new Set();

  constructor(
    private readonly problems: string[],
    private readonly naming: NamingProfile,
  ) {}

  add(...errors: readonly FieldError[]): void {
    for (const { field, detail } of errors) this.problems.push(`${field}: ${detail}`);
  }

  read(entry: ConfigReader, at: FieldPath): ResourceRule {
    entry.allowOnly('resources', 'providers');
    const resourcesAt = at.child('resources');
    const resources = entry.strings('resources');
    if (resources.length === 0) {
      this.add(fieldError.required(resourcesAt, `at least one ${String(resourcesAt)} is required`));
    }
    this.add(...resourceErrors(resources, resourcesAt, this.naming));
    const providersAt = at.child('providers');
    const entries = entry.mappings('providers');
    if (entries.length === 0) {
      this.add(fieldError.required(providersAt, `at least one ${String(providersAt)} is required`));
    }
    const providers = entries.flatMap((provider, index) => this.provider(provider, providersAt.index(index)));
    return { resources: resources.map((name) => ruleName(parseResource(name))), providers };
  }

  /** Returns no provider if it cannot be used; then there is a problem. */
  private provider(entry: ConfigReader, at: FieldPath): ProviderConfiguration[] {
    entry.allowOnly(...providerTypes);
    const [type, ...others] = providerTypes.filter((name) => isSet(entry.raw(name)));
    if (type === undefined || others.length > 0) {
      const problem =
        type === undefined
          ? 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
          : 'more than one provider specified in a single element, should split into different list elements';
      this.add(fieldError.invalidOmitted(at, problem));
    }
    if (type === undefined) return [];
    const inner = entry.mapping(type);
    switch (type) {
      case 'identity':
        inner.allowOnly();
        return [{ type }];
      case 'kms': {
        const { kms, errors } = readKms(inner, at.child(type), this.kmsNames);
        this.add(...errors);
        return kms ? [{ type, kms }] : [];
      }
      default:
        inner.allowOnly('keys');
        return [{ type, keys: this.keys(inner, at.child(type, 'keys'), keyLengths[type]) }];
    }
  }

  private keys(provider: ConfigReader, at: FieldPath, lengths: readonly number[]): NamedKey[] {
    const entries = provider.mappings('keys');
    if (entries.length === 0) this.add(fieldError.required(at, 'at least one keys is required'));
    return entries.map((entry, index) => {
      entry.allowOnly('name', 'secret');
      const keyAt = at.index(index);
      const name = entry.string('name') ?? '';
      if (name === '') this.add(fieldError.required(keyAt.child('name'), 'name is a mandatory field for a key'));
      return { name, secret: this.secret(entry.string('secret') ?? '', keyAt.child('secret'), lengths) };
    });
  }

  private secret(text: string, at: FieldPath, lengths: readonly number[]): Buffer {
    if (text === '') {
      this.add(fieldError.required(at, 'secret is a mandatory field for a key'));
      return Buffer.alloc(0);
    }
    const digits = text.replace(/[\r\n]/g, '');
    const secret = Buffer.from(digits, 'base64');
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(digits)) {
      this.add(fieldError.invalid(at, 'REDACTED', 'secrets must be base64 encoded'));
    } else if (!lengths.includes(secret.length)) {
      const detail = `secret is not of the expected length, got ${secret.length}, expected one of [${lengths.join(' ')}]`;
      this.add(fieldError.invalid(at, 'REDACTED', detail));
    }
    return secret;
  }
}
