import { currentRequestId } from '@apistrata/request-id';

export const dynamic = 'force-dynamic';

export default function Page() {
  return <p>{currentRequestId()?.local}</p>;
}
