import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionStatus,
} from '../../catalog/types/apiserverinternal.v1alpha1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import { validateDns1035Label, validateDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** The versions in which the API servers of the cluster store a resource; its name is `<group>.<resource>`. */
export const storageVersionStrategy: Strategy<StorageVersion> = {
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
    object.spec ??= {};
    object.status ??= {};
  },
};

export const storageVersionStatusSubresource = statusSubresource<StorageVersion>({
  keepsMetadata: true,
  validate: ({ status = {} }) => validateStatus(status, path('status')),
});

function validateStatus(status: StorageVersionStatus, at: FieldPath): FieldError[] {
  const { storageVersions: versions = [] } = status;
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    const versionAt = at.child('storageVersions').index(index);
    const { apiServerID: id = '' } = version;
    const duplicate = seen.has(id) ? [fieldError.duplicate(versionAt.child('apiServerID'), id)] : [];
    seen.add(id);
    return [...duplicate, ...validateServerVersion(version, versionAt)];
  });
  return [
    ...errors,
    ...validateCommonVersion(status, versions, at.child('commonEncodingVersion')),
    ...each(status.conditions, at.child('conditions'), (condition, conditionAt) => [
      ...required(condition.type, conditionAt.child('type'), 'must not be empty'),
      ...required(condition.status, conditionAt.child('status'), 'must not be empty'),
      ...required(condition.reason, conditionAt.child('reason'), 'must not be empty'),
    ]),
  ];
}

function validateServerVersion(version: ServerStorageVersion, at: FieldPath): FieldError[] {
  const { apiServerID: id = '', encodingVersion: encoding = '', decodableVersions: decodable = [] } = version;
  const { servedVersions = [] } = version;
  const errors = [
    ...validateDnsSubdomain(id).map((problem) => fieldError.invalid(at.child('apiServerID'), id, problem)),
    ...validateApiVersion(encoding, at.child('encodingVersion')),
    ...decodable.flatMap((text, index) => validateApiVersion(text, at.child('decodableVersions').index(index))),
  ];
  if (!decodable.includes(encoding)) {
    const message = `decodableVersions must include encodingVersion ${encoding}`;
    errors.push(fieldError.invalid(at.child('decodableVersions'), decodable, message));
  }
  for (const served of servedVersions) {
    if (decodable.includes(served)) continue;
    const message = `individual served version: ${served} must be included in decodableVersions`;
    errors.push(fieldError.invalid(at.child('servedVersions'), servedVersions, message));
  }
  return errors;
}

function validateApiVersion(text: string, at: FieldPath): FieldError[] {
  const problem = (message: string) => [fieldError.invalid(at, text, message)];
  const [version = '', group, ...rest] = text.split('/', 3).reverse();
  if (rest.length > 0) return problem('an apiVersion is a DNS-1035 label with an optional DNS subdomain prefix');
  return [
    ...(group === undefined ? [] : validateDnsSubdomain(group).flatMap((it) => problem(`group part: ${it}`))),
    ...validateDns1035Label(version).flatMap((it) => problem(`version part: ${it}`)),
  ];
}

/** Requires commonEncodingVersion exactly if all servers have the same encodingVersion. */
function validateCommonVersion(
  { commonEncodingVersion: actual }: StorageVersionStatus,
  versions: readonly ServerStorageVersion[],
  at: FieldPath,
): FieldError[] {
  const common = versions[0]?.encodingVersion;
  const isCommon = versions.length > 0 && versions.every((version) => version.encodingVersion === common);
  if (!isCommon) {
    if (actual === undefined) return [];
    return [fieldError.invalid(at, actual, 'should be nil if servers do not agree on the same encoding version')];
  }
  if (actual === common) return [];
  return [fieldError.invalid(at, actual, `the common encoding version is ${common ?? ''}`)];
}
