import { parseYamlMapping } from '../../config/config-files.js';
import { FlagError } from '../../config/flag-error.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ConfigReader } from '../../machinery/config-reader.js';
import { isSet, type Fields } from '../../machinery/fields.js';
import type { JwtConfiguration } from './jwt-configuration.js';
import { readJwtList } from './jwt-list.js';

export interface AnonymousAccess {
  readonly enabled: boolean;
  /** The only paths of anonymous requests; every path if undefined. */
  readonly paths: ReadonlySet<string> | undefined;
}

/** The content of --authentication-config. */
export interface AuthenticationConfiguration {
  /** Undefined if the file leaves anonymous requests to --anonymous-auth. */
  readonly anonymous: AnonymousAccess | undefined;
  /** Issuers of JSON Web Tokens, and how their claims become users. */
  readonly jwt: readonly JwtConfiguration[];
  /** The text that was read. */
  readonly text: string;
}

interface ReadOptions {
  readonly file: string;
  readonly naming: NamingProfile;
  /** True if --anonymous-auth is given, which excludes `anonymous` in the file. */
  readonly isAnonymousFlagGiven: boolean;
  /** True with the authorizer AlwaysAllow, which lets anonymous requests do anything. */
  readonly allowsEverything: boolean;
  /** Issuers of service account tokens, which cannot be issuers in `jwt`. */
  readonly ownIssuers: readonly string[];
}

const flag = 'authentication-config';

/** Throws FlagError with all problems, also for unknown fields: a rule that is not understood must not be ignored. */
export function readAuthenticationConfiguration(text: string, options: ReadOptions): AuthenticationConfiguration {
  const problems: string[] = [];
  const root = new ConfigReader(parse(text, options.file), '', problems);
  const group = options.naming.group('apiserver.config');
  let anonymous: AnonymousAccess | undefined;
  let jwt: readonly JwtConfiguration[] = [];
  if (root.hasKind('AuthenticationConfiguration', [`${group}/v1`, `${group}/v1beta1`])) {
    root.allowOnly('apiVersion', 'kind', 'jwt', 'anonymous');
    const { ownIssuers, naming } = options;
    jwt = readJwtList(root, { ownIssuers, reservedDomains: reservedDomains(naming) });
    if (isSet(root.raw('anonymous'))) anonymous = readAnonymous(root, options);
  }
  if (problems.length > 0) throw new FlagError(flag, problems, options.file);
  return { anonymous, jwt, text };
}

function reservedDomains({ labelDomain }: NamingProfile): readonly string[] {
  return [...new Set(['k8s.io', 'kubernetes.io', labelDomain])];
}

function parse(text: string, file: string): Fields {
  try {
    return { ...parseYamlMapping(text) };
  } catch (error) {
    throw new FlagError(flag, [`cannot be read: ${error instanceof Error ? error.message : String(error)}`], file);
  }
}

function readAnonymous(root: ConfigReader, { isAnonymousFlagGiven, allowsEverything }: ReadOptions): AnonymousAccess {
  const anonymous = root.mapping('anonymous').allowOnly('enabled', 'conditions');
  const enabled = anonymous.boolean('enabled') ?? false;
  const conditions = anonymous.mappings('conditions');
  const paths = conditions.map((condition) => readPath(condition.allowOnly('path')));
  if (isAnonymousFlagGiven) {
    root.addProblem('anonymous', 'cannot be combined with --anonymous-auth; remove one of the two');
  }
  if (enabled && allowsEverything) {
    anonymous.addProblem('enabled', 'cannot be true with --authorization-mode=AlwaysAllow; choose another mode');
  }
  if (!enabled && conditions.length > 0) anonymous.addProblem('enabled', 'must be true if conditions are given');
  return { enabled, paths: conditions.length > 0 ? new Set(paths) : undefined };
}

function readPath(condition: ConfigReader): string {
  const path = condition.string('path') ?? '';
  if (!path.startsWith('/')) condition.addProblem('path', 'must be a path that begins with /, for example /livez');
  return path;
}
