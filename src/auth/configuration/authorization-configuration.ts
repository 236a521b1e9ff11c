import { parseYamlMapping } from '../../config/config-files.js';
import { authorizationModes } from '../../config/flags/authorization.js';
import { FlagError } from '../../config/flag-error.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ConfigReader } from '../../machinery/config-reader.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isSet, type Fields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Clock } from '../../std/clock.js';
import type { WebhookAuthorizerConfiguration } from './webhook-authorizer-configuration.js';
import { readWebhookAuthorizer } from './webhook-authorizer-reader.js';

type AuthorizerType = (typeof authorizationModes)[number];
export type BuiltInType = Exclude<AuthorizerType, 'Webhook'>;

/** One entry of `authorizers`, or one mode of --authorization-mode. */
export type AuthorizerConfiguration =
  | { readonly type: BuiltInType; readonly name: string; readonly webhook?: undefined }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookAuthorizerConfiguration };

/** The content of --authorization-config. */
export interface AuthorizationConfiguration {
  /** In order; never empty. */
  readonly authorizers: readonly AuthorizerConfiguration[];
  /** The text that was read. */
  readonly text: string;
}

interface ReadOptions {
  readonly file: string;
  readonly naming: NamingProfile;
  /** True if --authorization-policy-file is given, which the type ABAC needs. */
  readonly hasPolicyFile: boolean;
  readonly clock: Clock;
}

const flag = 'authorization-config';
const typesSorted = [...authorizationModes].sort();

/**
 * Reads and checks the file, in the order of kube-apiserver, whose names of fields the problems have: those of a webhook
 * are `authorizers[0].timeout`. Rejects with a FlagError with all problems, also for unknown fields: a rule that is not
 * understood must not be ignored.
 */
export async function readAuthorizationConfiguration(
  text: string,
  options: ReadOptions,
): Promise<AuthorizationConfiguration> {
  const problems: string[] = [];
  const root = new ConfigReader(parse(text, options.file), '', problems);
  const group = options.naming.group('apiserver.config');
  let authorizers: readonly AuthorizerConfiguration[] = [];
  // As kube-apiserver 1.36, which reads all three without a feature gate.
  const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);
  if (root.hasKind('AuthorizationConfiguration', versions)) {
    root.allowOnly('apiVersion', 'kind', 'authorizers');
    authorizers = await readAuthorizers(root, options);
  }
  if (problems.length > 0) throw new FlagError(flag, problems, options.file);
  return { authorizers, text };
}

/**
 * Throws a FlagError if the authorizers other than webhooks are not the same, in any order: these are constructed at
 * start, and a file that was cut off must not remove one.
 */
export function requireSameTypes(
  before: readonly AuthorizerConfiguration[],
  after: readonly AuthorizerConfiguration[],
  file: string,
): void {
  const [old, changed] = [builtInTypes(before), builtInTypes(after)];
  const problem = (verb: string, types: readonly string[]) =>
    types.length === 0 ? [] : [`authorizers: ${types.join(', ')} cannot be ${verb} without a restart`];
  const problems = [
    ...problem(
      'removed',
      old.filter((type) => !changed.includes(type)),
    ),
    ...problem(
      'added',
      changed.filter((type) => !old.includes(type)),
    ),
  ];
  if (problems.length > 0) throw new FlagError(flag, problems, file);
}

const builtInTypes = (authorizers: readonly AuthorizerConfiguration[]): readonly AuthorizerType[] =>
  authorizers.map(({ type }) => type).filter((type) => type !== 'Webhook');

function parse(text: string, file: string): Fields {
  try {
    return { ...parseYamlMapping(text) };
  } catch (error) {
    throw new FlagError(flag, [`cannot be read: ${error instanceof Error ? error.message : String(error)}`], file);
  }
}

async function readAuthorizers(root: ConfigReader, options: ReadOptions): Promise<readonly AuthorizerConfiguration[]> {
  const listAt = path('authorizers');
  const entries = root.mappings('authorizers');
  const list = new AuthorizerList(root.problems, options);
  if (entries.length === 0) list.add(fieldError.required(listAt, 'at least one authorization mode must be defined'));
  else if (options.hasPolicyFile && !entries.some((entry) => entry.raw('type') === 'ABAC')) {
    list.add(fieldError.required(listAt, 'type=ABAC is needed with --authorization-policy-file'));
  }
  const read: AuthorizerConfiguration[] = [];
  for (const [index, entry] of entries.entries()) {
    const authorizer = await list.read(entry, listAt.index(index));
    if (authorizer) read.push(authorizer);
  }
  return read;
}

/** Reads entries one after the other, and compares each with those before. */
class AuthorizerList {
  private readonly types = new Set<AuthorizerType>();
  private readonly names = new Set<string>();

  constructor(
    private readonly problems: string[],
    private readonly options: ReadOptions,
  ) {}

  add(...errors: readonly FieldError[]): void {
    for (const { field, detail } of errors) this.problems.push(`${field}: ${detail}`);
  }

  /** Returns undefined if the entry cannot be used; then it has added a problem. */
  async read(entry: ConfigReader, at: FieldPath): Promise<AuthorizerConfiguration | undefined> {
    entry.allowOnly('type', 'name', 'webhook');
    const type = this.typeOf(entry, at.child('type'));
    if (type === undefined) return undefined;
    const name = this.nameOf(entry, type, at.child('name'));
    const hasWebhook = isSet(entry.raw('webhook'));
    const webhookAt = at.child('webhook');
    if (type !== 'Webhook') {
      if (hasWebhook) this.add(fieldError.invalid(webhookAt, 'non-null', 'may only be specified when type=Webhook'));
      return { type, name };
    }
    if (!hasWebhook) {
      this.add(fieldError.required(webhookAt, 'required when type=Webhook'));
      return undefined;
    }
    const webhook = await readWebhookAuthorizer(entry.mapping('webhook'), {
      ...{ name, at, clock: this.options.clock },
      add: (error) => this.add(error),
    });
    return { type, name, webhook };
  }

  private typeOf(entry: ConfigReader, at: FieldPath): AuthorizerType | undefined {
    const text = entry.string('type') ?? '';
    if (text === '') {
      this.add(fieldError.required(at));
      return undefined;
    }
    const type = authorizationModes.find((known) => known === text);
    if (type === undefined) {
      this.add(fieldError.notSupported(at, text, typesSorted));
      return undefined;
    }
    if (this.types.has(type) && type !== 'Webhook') {
      this.add(fieldError.duplicate(at, type));
      return undefined;
    }
    this.types.add(type);
    if (type === 'ABAC' && !this.options.hasPolicyFile) {
      this.add(fieldError.invalid(at, type, 'requires --authorization-policy-file'));
    }
    return type;
  }

  /** Returns the name; that of an authorizer other than a webhook is its type in lower case, which may be left out. */
  private nameOf(entry: ConfigReader, type: AuthorizerType, at: FieldPath): string {
    const fixed = type === 'Webhook' ? undefined : type.toLowerCase();
    const name = entry.string('name') ?? fixed ?? '';
    if (name === '') this.add(fieldError.required(at));
    else if (this.names.has(name)) this.add(fieldError.duplicate(at, name));
    else if (fixed !== undefined && name !== fixed) {
      this.add(fieldError.invalid(at, name, `must be ${fixed} for type=${type}`));
    } else {
      const flaws = nameIsDnsSubdomain(name);
      if (flaws.length > 0) {
        this.add(fieldError.invalid(at, name, `authorizer name is invalid: ${flaws.join(', ')}`));
      }
    }
    this.names.add(name);
    return name;
  }
}
