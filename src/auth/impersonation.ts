import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { headerText } from '../machinery/header-text.js';
import { percentDecode } from '../machinery/query.js';
import {
  allAuthenticated,
  allUnauthenticated,
  parseServiceAccountUserName,
  serviceAccountGroups,
  userNames,
  type UserInfo,
} from '../machinery/user-info.js';

export interface Impersonation {
  readonly user: UserInfo;
  /** Groups and extra of the headers, without the groups that are added for the user. */
  readonly named: { readonly groups: readonly string[]; readonly extra: Readonly<Record<string, readonly string[]>> };
}

/** A permission that the authenticated user needs. */
export interface ImpersonationCheck {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const extraPrefix = 'impersonate-extra-';

/**
 * Returns the user in the Impersonate- headers, undefined if there are none. Reads the raw headers, since Node joins
 * repeated ones by commas, which group names may contain.
 */
export function impersonationOf(rawHeaders: readonly string[]): Impersonation | undefined {
  let name: string | undefined = undefined;
  let uid: string | undefined = undefined;
  const groups: string[] = [];
  const extra: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  let found = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]!.toLowerCase();
    if (!header.startsWith('impersonate-')) continue;
    const value = headerText(rawHeaders[i + 1]!);
    if (value === undefined) throw ApiError.badRequest(`the value of the header ${header} is not UTF-8`);
    // The first value is used, as by Go's Header.Get, since a front proxy may have checked that one.
    if (header === 'impersonate-user') name ??= value;
    else if (header === 'impersonate-uid') uid ??= value;
    else if (header === 'impersonate-group') groups.push(value);
    else if (header.startsWith(extraPrefix)) {
      const raw = header.slice(extraPrefix.length);
      (extra[percentDecode(raw) ?? raw] ??= []).push(value);
    } else continue;
    found = true;
  }
  return found ? impersonatedUser(name ?? '', uid ?? '', groups, extra) : undefined;
}

function impersonatedUser(
  name: string,
  uid: string,
  groups: readonly string[],
  extra: Readonly<Record<string, readonly string[]>>,
): Impersonation | undefined {
  if (name === '') {
    if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
    const given = `Name:"", UID:${goQuote(uid)}, Groups:${goTexts(groups)}, Extra:${goTextLists(extra)}`;
    throw ApiError.badRequest(`requested &user.DefaultInfo{${given}} without impersonating a user name`);
  }
  return { user: { name, uid, groups: groupsOf(name, groups), extra }, named: { groups, extra } };
}

/** Formats values as Go's %#v, which kube-apiserver uses in this message. */
function goTexts(texts: readonly string[]): string {
  return texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(goQuote).join(', ')}}`;
}

function goTextLists(lists: Readonly<Record<string, readonly string[]>>): string {
  const keys = Object.keys(lists).sort();
  if (keys.length === 0) return 'map[string][]string(nil)';
  return `map[string][]string{${keys.map((key) => `${goQuote(key)}:${goTexts(lists[key]!)}`).join(', ')}}`;
}

/**
 * Adds the groups of a service account if none are named, and system:authenticated, or for system:anonymous the
 * opposite.
 */
export function groupsOf(name: string, named: readonly string[]): readonly string[] {
  const account = parseServiceAccountUserName(name);
  const groups = named.length === 0 && account ? [...serviceAccountGroups(account.namespace)] : [...named];
  const isAnonymous = name === userNames.anonymous;
  const isKnown = groups.includes(allUnauthenticated) || (!isAnonymous && groups.includes(allAuthenticated));
  if (!isKnown) groups.push(isAnonymous ? allUnauthenticated : allAuthenticated);
  return groups;
}

/** Returns the permissions that the authenticated user needs for the impersonation. */
export function impersonationChecks(impersonated: Impersonation, authenticationGroup: string): ImpersonationCheck[] {
  const check = (resource: string, name: string, more: Partial<ImpersonationCheck> = {}): ImpersonationCheck => ({
    group: '',
    resource,
    subresource: '',
    namespace: '',
    name,
    ...more,
  });
  const account = parseServiceAccountUserName(impersonated.user.name);
  const checks = [
    account
      ? check('serviceaccounts', account.name, { namespace: account.namespace })
      : check('users', impersonated.user.name),
    ...impersonated.named.groups.map((group) => check('groups', group)),
  ];
  for (const [key, values] of Object.entries(impersonated.named.extra)) {
    for (const value of values)
      checks.push(check('userextras', value, { group: authenticationGroup, subresource: key }));
  }
  if (impersonated.user.uid !== '') checks.push(check('uids', impersonated.user.uid, { group: authenticationGroup }));
  return checks;
}
