import { currentRequestId } from '@apistrata/request-id';

export const dynamic = 'force-dynamic';

const notes = new Map();

export function GET(request) {
  const isOld = request.headers.get('x-version') === '2025-03-01';
  return Response.json(isOld ? [...notes.keys()] : { notes: [...notes.values()] });
}

export function POST() {
  const note = { id: String(notes.size + 1), by: currentRequestId()?.local };
  notes.set(note.id, note);
  return Response.json(note, { status: 201 });
}
