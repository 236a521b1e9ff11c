import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { validateQualifiedName } from '../../../machinery/names.js';

/** Names of what can be counted. Those without a slash are the server's own; others belong to whoever has the domain. */
const ofContainers = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** What is counted by pieces. */
export const pieces: ReadonlySet<string> = new Set([
  ...['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
]);
const ofQuotas = new Set([
  ...ofContainers,
  ...pieces,
  'requests.storage',
  ...[...ofContainers].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isContainerResource = (name: string): boolean => ofContainers.has(name) || isHugePages(name);
export const isQuotaResource = (name: string): boolean =>
  ofQuotas.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
const isStandardResource = (name: string): boolean => isQuotaResource(name) || name === 'storage';

/** What can be shared can be promised twice; devices and huge pages cannot. */
export const mayExceed = (name: string): boolean => !isHugePages(name) && !name.includes('/');

function nameProblems(name: string): string[] {
  const problems = validateQualifiedName(name);
  if (problems.length > 0) return problems;
  return name.includes('/') || isStandardResource(name) ? [] : ['must be a standard resource type or fully qualified'];
}

const refused = (name: string, at: FieldPath, problems: string[]): FieldError[] =>
  problems.map((problem) => fieldError.invalid(String(at), name, problem));

export const validateResourceName = (name: string, at: FieldPath): FieldError[] =>
  refused(name, at, nameProblems(name));

export function validateContainerResourceName(name: string, at: FieldPath): FieldError[] {
  const problems = nameProblems(name);
  if (!name.includes('/') && validateQualifiedName(name).length === 0 && !isContainerResource(name)) {
    problems.push('must be a standard resource for containers');
  }
  return refused(name, at, problems);
}

export function validateQuotaResourceName(name: string, at: FieldPath): FieldError[] {
  const problems = nameProblems(name);
  if (!name.includes('/') && validateQualifiedName(name).length === 0 && !isQuotaResource(name)) {
    problems.push('must be a standard resource for quota');
  }
  return refused(name, at, problems);
}
