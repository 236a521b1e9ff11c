import type { LeaseCandidate } from '../../catalog/types/coordination.v1beta1.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { compareSemver, parseSemver } from '../../machinery/semver.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { oldestFirst, validateStrategyName } from './strategy-name.validation.js';

const at = path('spec');

/** A server that may hold a Lease, with its version, for coordinated leader election (KEP-4355). */
export const leaseCandidateStrategy: Strategy<LeaseCandidate> = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateCandidate,
  validateUpdate: (candidate, old) => [
    ...validateCandidate(candidate),
    ...immutable(candidate.spec?.leaseName, old.spec?.leaseName, at.child('leaseName')),
  ],
};

const noVersion = 'must be a valid semantic version';

function validateCandidate({ spec = {} }: LeaseCandidate): FieldError[] {
  const { leaseName = '', binaryVersion: binary = '', emulationVersion: emulation = '', strategy = '' } = spec;
  const emulated = parseSemver(emulation);
  const built = parseSemver(binary);
  const binaryAt = at.child('binaryVersion');
  const errors = required(leaseName, at.child('leaseName'));
  if (binary === '') errors.push(fieldError.required(binaryAt));
  else if (!built) errors.push(fieldError.invalid(binaryAt, binary, noVersion));
  if (emulation !== '' && !emulated) {
    errors.push(fieldError.invalid(at.child('emulationVersion'), emulation, noVersion));
  }
  if (built && emulated && compareSemver(built, emulated) < 0) {
    errors.push(fieldError.invalid(binaryAt, binary, 'must be greater than or equal to `emulationVersion`'));
  }
  return [...errors, ...validateStrategy(strategy, emulation)];
}

function validateStrategy(strategy: string, emulation: string): FieldError[] {
  const strategyAt = at.child('strategy');
  if (strategy === '') return required(strategy, strategyAt);
  if (strategy !== oldestFirst) return validateStrategyName(strategy, strategyAt);
  const message = `must be specified when \`strategy\` is '${oldestFirst}'`;
  return required(emulation, at.child('emulationVersion'), message);
}
