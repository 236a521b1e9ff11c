import type { NamingProfile } from '../../config/naming-profile.js';
import { otherVersion, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { coreResources } from '../core/core.resources.js';
import { eventTable } from '../core/event.table.js';
import { eventFieldLabels, fromCoreEvent, toCoreEvent } from './event.converter.js';
import { eventStrategy } from './event.strategy.js';

export const eventsVersion = (naming: NamingProfile) => ({ group: naming.group('events'), version: 'v1' });

/** events.k8s.io/v1 serves the Events of core/v1 with other field names and stricter validation. */
export function eventsResources(naming: NamingProfile): readonly ResourceDefinition[] {
  const stored = coreResources(naming).find(({ plural }) => plural === 'events')!;
  return [
    otherVersion(stored, {
      ...eventsVersion(naming),
      strategy: eventStrategy(naming),
      table: { columns: eventTable.columns, cells: (event, context) => eventTable.cells(toCoreEvent(event), context) },
      toHub: toCoreEvent,
      fromHub: fromCoreEvent,
      // Without the field labels of core/v1.
      selectableFields: {},
      fieldLabels: eventFieldLabels,
    }),
  ];
}
