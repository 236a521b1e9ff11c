import type { NamingProfile } from '../../config/naming-profile.js';

/** A device or the like that somebody else has a name for: the built-in resources have no domain, or that of the labels. */
export function isExtendedResource(name: string, naming: NamingProfile): boolean {
  return name.includes('/') && !isNative(name, naming) && !name.startsWith('requests.');
}

function isNative(name: string, naming: NamingProfile): boolean {
  const domain = name.slice(0, name.indexOf('/'));
  return domain === naming.labelDomain || domain.endsWith(`.${naming.labelDomain}`);
}

export const isHugePage = (name: string): boolean => name.startsWith('hugepages-');
