import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, makeFields, type Fields } from '../../machinery/fields.js';
import { validateDns1035Label, validateDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** In which version each server of the cluster writes a resource: `<group>.<resource>` is its name. */
export const storageVersionStrategy: Strategy = {
  validateName(name) {
    const at = name.lastIndexOf('.');
    if (at < 0) return ['name must be in the form of <group>.<resource>'];
    const group = name.slice(0, at);
    return [
      ...(group === '' ? [] : validateDnsSubdomain(group).map((problem) => `the group segment ${problem}`)),
      ...validateDns1035Label(name.slice(at + 1)).map((problem) => `the resource segment ${problem}`),
    ];
  },
  default(object) {
    makeFields(object, 'spec');
    makeFields(object, 'status');
  },
  prepareForCreate(object) {
    object['status'] = {};
  },
  prepareForUpdate(object, old) {
    object['status'] = old['status'];
  },
};

export const storageVersionStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate: (object) => validateStatus(asFields(object['status']), path('status')),
});

function validateStatus(status: Fields, at: FieldPath): FieldError[] {
  const versions = asItems(status['storageVersions']);
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    const where = at.child('storageVersions').index(index);
    const id = asText(version['apiServerID']);
    const duplicate = seen.has(id) ? [fieldError.duplicate(where.child('apiServerID'), id)] : [];
    seen.add(id);
    return [...duplicate, ...validateServerVersion(version, where)];
  });
  return [
    ...errors,
    ...validateCommonVersion(status, versions, at.child('commonEncodingVersion')),
    ...each(status['conditions'], at.child('conditions'), (condition, where) => [
      ...required(condition['type'], where.child('type'), 'must not be empty'),
      ...required(condition['status'], where.child('status'), 'must not be empty'),
      ...required(condition['reason'], where.child('reason'), 'must not be empty'),
    ]),
  ];
}

function validateServerVersion(version: Fields, at: FieldPath): FieldError[] {
  const { apiServerID, encodingVersion, decodableVersions } = version;
  const encoding = asText(encodingVersion);
  const decodable = asTexts(decodableVersions);
  const errors = [
    ...validateDnsSubdomain(asText(apiServerID)).map((problem) =>
      fieldError.invalid(at.child('apiServerID'), asText(apiServerID), problem),
    ),
    ...validateApiVersion(encoding, at.child('encodingVersion')),
    ...decodable.flatMap((text, index) => validateApiVersion(text, at.child('decodableVersions').index(index))),
  ];
  if (!decodable.includes(encoding)) {
    const message = `decodableVersions must include encodingVersion ${encoding}`;
    errors.push(fieldError.invalid(at.child('decodableVersions'), decodable, message));
  }
  for (const served of asTexts(version['servedVersions'])) {
    if (decodable.includes(served)) continue;
    const message = `individual served version: ${served} must be included in decodableVersions`;
    errors.push(fieldError.invalid(at.child('servedVersions'), version['servedVersions'], message));
  }
  return errors;
}

function validateApiVersion(text: string, at: FieldPath): FieldError[] {
  const problem = (message: string) => [fieldError.invalid(at, text, message)];
  const [version = '', group, ...rest] = text.split('/').reverse();
  if (rest.length > 0) return problem('an apiVersion is a DNS-1035 label with an optional DNS subdomain prefix');
  return [
    ...(group === undefined ? [] : validateDnsSubdomain(group).flatMap((it) => problem(`group part: ${it}`))),
    ...validateDns1035Label(version).flatMap((it) => problem(`version part: ${it}`)),
  ];
}

/** Said exactly when all servers agree. */
function validateCommonVersion(status: Fields, versions: readonly Fields[], at: FieldPath): FieldError[] {
  const common = versions[0]?.['encodingVersion'];
  const agree = versions.length > 0 && versions.every((version) => deepEqual(version['encodingVersion'], common));
  const actual = status['commonEncodingVersion'];
  if (!agree) {
    if (actual === undefined || actual === null) return [];
    return [fieldError.invalid(at, actual, 'should be nil if servers do not agree on the same encoding version')];
  }
  if (actual === common) return [];
  return [fieldError.invalid(at, actual, `the common encoding version is ${asText(common)}`)];
}
