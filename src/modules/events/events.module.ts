import { Module } from '@nestjs/common';
import { EventsGroup } from './events.group.js';

@Module({ providers: [{ provide: EventsGroup, useFactory: () => new EventsGroup() }] })
export class EventsModule {}
