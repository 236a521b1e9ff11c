import type { PriorityClass } from '../../catalog/types/scheduling.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { oneOf } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

export const userPriorityMax = 1_000_000_000;
const systemPrefix = 'system-';

/** Priorities of the classes of system Pods, above those of all user-defined classes. */
export const systemPriorities = {
  'system-cluster-critical': 2 * userPriorityMax,
  'system-node-critical': 2 * userPriorityMax + 1000,
} as const;

const isSystemClass = (name: string): name is keyof typeof systemPriorities => Object.hasOwn(systemPriorities, name);

export function priorityClassStrategy(naming: NamingProfile): Strategy<PriorityClass> {
  const resource = { group: naming.group('scheduling'), resource: 'priorityclasses' };
  return {
    validateName: nameIsDnsSubdomain,
    default(priorityClass) {
      priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
    },
    /** Sets the generation once: updates do not count, as in kube-apiserver. */
    prepareForCreate(priorityClass) {
      priorityClass.metadata.generation = 1;
    },
    validateCreate: (priorityClass) => [...validateValue(priorityClass), ...validatePolicy(priorityClass)],
    validateUpdate: (priorityClass, old) => [
      ...((priorityClass.value ?? 0) === (old.value ?? 0)
        ? []
        : [fieldError.forbidden('value', 'may not be changed in an update.')]),
      ...immutable(priorityClass.preemptionPolicy, old.preemptionPolicy, path('preemptionPolicy')),
    ],
    deletion: {
      refuse({ metadata: { name = '' } }) {
        if (!isSystemClass(name)) return;
        throw ApiError.forbidden(resource, name, 'this is a system priority class and cannot be deleted');
      },
    },
  };
}

function validatePolicy({ preemptionPolicy }: PriorityClass): FieldError[] {
  if (preemptionPolicy === '') return [fieldError.required('preemptionPolicy')];
  return oneOf(preemptionPolicy, path('preemptionPolicy'), ['PreemptLowerPriority', 'Never']);
}

function validateValue({ metadata, value = 0, globalDefault = false }: PriorityClass): FieldError[] {
  const { name = '' } = metadata;
  if (name.startsWith(systemPrefix)) {
    const problem = systemClassProblem(name, value, globalDefault);
    if (problem === undefined) return [];
    const message = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`;
    return [fieldError.forbidden('metadata.name', message)];
  }
  if (value <= userPriorityMax) return [];
  return [fieldError.forbidden('value', `maximum allowed value of a user defined priority is ${userPriorityMax}`)];
}

function systemClassProblem(name: string, value: number, isDefault: boolean): string | undefined {
  if (!isSystemClass(name)) return `${name} is not a known system priority class`;
  const known = systemPriorities[name];
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
