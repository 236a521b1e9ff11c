import { parseYamlMapping } from '../config/config-files.js';
import { FlagError } from '../config/flag-error.js';
import { ConfigReader } from '../machinery/config-reader.js';
import { nameIsDnsSubdomain } from '../machinery/names.js';
import {
  auditLevels,
  auditStages,
  type AuditPolicy,
  type AuditRule,
  type AuditStage,
  type GroupResources,
} from './audit-policy.js';

const flag = 'audit-policy-file';

interface ReadOptions {
  readonly file: string;
  /** `audit.k8s.io` */
  readonly group: string;
}

/**
 * Reads an audit policy. Throws a FlagError with all problems, each with the path of its field. Unknown fields are
 * problems too: a rule that is not understood could log a Secret or hide a request.
 */
export function readAuditPolicy(text: string, { file, group }: ReadOptions): AuditPolicy {
  const problems: string[] = [];
  const root = new ConfigReader(parsed(text, file), '', problems);
  let policy: AuditPolicy | undefined;
  if (root.hasKind('Policy', [`${group}/v1`])) policy = readPolicy(root);
  if (problems.length > 0) throw new FlagError(flag, problems, file);
  return policy!;
}

function parsed(text: string, file: string): ReturnType<typeof parseYamlMapping> {
  try {
    return parseYamlMapping(text);
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new FlagError(flag, [reason], file);
  }
}

function readPolicy(root: ConfigReader): AuditPolicy {
  root.allowOnly('apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields');
  const omitStages = readStages(root);
  const omitManagedFields = root.boolean('omitManagedFields') ?? false;
  const rules = root.mappings('rules').map((rule) => readRule(rule, omitStages, omitManagedFields));
  if (rules.length === 0) root.addProblem('rules', 'must have at least one rule');
  return { rules, otherwise: { level: 'None', omitStages: new Set(omitStages), omitManagedFields } };
}

function readRule(rule: ConfigReader, policyStages: readonly AuditStage[], policyOmits: boolean): AuditRule {
  rule.allowOnly(
    ...['level', 'users', 'userGroups', 'verbs', 'resources', 'namespaces', 'nonResourceURLs'],
    ...['omitStages', 'omitManagedFields'],
  );
  const level = rule.requiredOneOf('level', auditLevels) ?? 'None';
  const nonResourceURLs = readPaths(rule);
  const resources = rule.mappings('resources').map(readResources);
  const namespaces = rule.strings('namespaces');
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    rule.addProblem('nonResourceURLs', 'rules cannot apply to both regular resources and non-resource URLs');
  }
  return {
    level,
    users: rule.strings('users'),
    userGroups: rule.strings('userGroups'),
    verbs: rule.strings('verbs'),
    resources,
    namespaces,
    nonResourceURLs,
    omitStages: new Set([...policyStages, ...readStages(rule)]),
    omitManagedFields: rule.boolean('omitManagedFields') ?? policyOmits,
  };
}

function readStages(reader: ConfigReader): AuditStage[] {
  return reader.strings('omitStages').flatMap((text, index) => {
    const stage = auditStages.find((known) => known === text);
    if (!stage) reader.addProblem(`omitStages[${index}]`, `must be one of ${auditStages.join(', ')}`);
    return stage ?? [];
  });
}

function readPaths(rule: ConfigReader): string[] {
  const urls = rule.strings('nonResourceURLs');
  for (const [index, url] of urls.entries()) {
    if (url === '*') continue;
    const at = `nonResourceURLs[${index}]`;
    if (!url.startsWith('/')) rule.addProblem(at, 'must begin with "/"');
    if (url.slice(0, -1).includes('*')) rule.addProblem(at, '"*" must be the last character');
  }
  return urls;
}

function readResources(reader: ConfigReader): GroupResources {
  reader.allowOnly('group', 'resources', 'resourceNames');
  const group = reader.string('group') ?? '';
  if (group !== '' && group !== '*') {
    const [problem] = nameIsDnsSubdomain(group);
    if (problem !== undefined) reader.addProblem('group', `must be the name of a group without a version: ${problem}`);
  }
  const resources = reader.strings('resources');
  const resourceNames = reader.strings('resourceNames');
  if (resourceNames.length > 0 && resources.length === 0) {
    reader.addProblem('resourceNames', 'using resourceNames requires at least one resource');
  }
  return { group, resources, resourceNames };
}
