import { readFileSync } from 'node:fs';
import { decodeJson } from '../../codec/json.js';
import { FlagError } from '../../config/flag-error.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ConfigReader, isMapping } from '../../machinery/config-reader.js';
import { isSet, type Fields } from '../../machinery/fields.js';
import { allAuthenticated } from '../../machinery/user-info.js';

/** One line of an ABAC policy file. `*` in a field of the request stands for every value. */
export interface AbacPolicy {
  /** '' for every user of the group. */
  readonly user: string;
  /** '' for every group of the user. */
  readonly group: string;
  /** True to allow get, list and watch only. */
  readonly isReadOnly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  /** May end with `*`. */
  readonly nonResourcePath: string;
}

const flag = 'authorization-policy-file';
const problemsMax = 20;

/** Reads --authorization-policy-file. Throws FlagError if it cannot be read or has a wrong line. */
export function readAbacPolicies(file: string, naming: NamingProfile): AbacPolicy[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new FlagError(flag, [`cannot be read: ${error instanceof Error ? error.message : String(error)}`], file);
  }
  return parseAbacPolicies(text, file, naming);
}

/**
 * Parses an ABAC policy file: one JSON object a line; empty lines and lines that begin with `#` are comments. Throws
 * FlagError with the numbers of the wrong lines, also for unknown fields: a policy without a field allows more.
 */
export function parseAbacPolicies(text: string, file: string, naming: NamingProfile): AbacPolicy[] {
  const apiVersion = naming.label('v1beta1', 'abac.authorization');
  const problems: string[] = [];
  const policies: AbacPolicy[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const found: string[] = [];
    const policy = parsePolicy(content, apiVersion, found);
    for (const problem of found) problems.push(`line ${index + 1}: ${problem}`);
    if (policy) policies.push(policy);
    if (problems.length >= problemsMax) break;
  }
  if (problems.length > 0) throw new FlagError(flag, problems, file);
  return policies;
}

function parsePolicy(line: string, apiVersion: string, problems: string[]): AbacPolicy | undefined {
  const fields = parseFields(line);
  if (!fields) {
    problems.push('must be a JSON object');
    return undefined;
  }
  const root = new ConfigReader(fields, '', problems);
  if (!isSet(root.raw('apiVersion')) && !isSet(root.raw('kind'))) return unversionedPolicy(root);
  if (!root.hasKind('Policy', [apiVersion])) return undefined;
  return versionedPolicy(root.allowOnly('apiVersion', 'kind', 'spec').mapping('spec'));
}

function parseFields(line: string): Fields | undefined {
  try {
    const value = decodeJson(Buffer.from(line));
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function versionedPolicy(spec: ConfigReader): AbacPolicy {
  spec.allowOnly('user', 'group', 'readonly', 'apiGroup', 'resource', 'namespace', 'nonResourcePath');
  return {
    ...subjectOf(spec),
    isReadOnly: spec.boolean('readonly') ?? false,
    apiGroup: spec.string('apiGroup') ?? '',
    resource: spec.string('resource') ?? '',
    namespace: spec.string('namespace') ?? '',
    nonResourcePath: spec.string('nonResourcePath') ?? '',
  };
}

/** Converts the form without apiVersion: absent fields match everything, in every API group. */
function unversionedPolicy(root: ConfigReader): AbacPolicy {
  root.allowOnly('user', 'group', 'readonly', 'resource', 'namespace');
  const subject = subjectOf(root);
  const resource = root.string('resource') || '*';
  const namespace = root.string('namespace') || '*';
  const isForEverything = !root.string('resource') && !root.string('namespace');
  return {
    ...(subject.user === '' && subject.group === '' ? { user: '', group: allAuthenticated } : subject),
    isReadOnly: root.boolean('readonly') ?? false,
    apiGroup: '*',
    resource,
    namespace,
    nonResourcePath: isForEverything ? '*' : '',
  };
}

/** `*` as a user or group means authenticated users. */
function subjectOf(fields: ConfigReader): Pick<AbacPolicy, 'user' | 'group'> {
  const user = fields.string('user') ?? '';
  const group = fields.string('group') ?? '';
  return user === '*' || group === '*' ? { user: '', group: allAuthenticated } : { user, group };
}
