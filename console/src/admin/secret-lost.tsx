/** What to do when the answer that held the secret never arrived, and the next try is told that it was shown. */
export const SecretLost = ({ what, cure }: { what: string; cure: string }) => (
  <div className="notice" role="alert">
    <h2>It was made, but what it is got lost on the way</h2>
    <p>
      The connection broke before {what} arrived here, and it is kept nowhere. {cure}
    </p>
  </div>
)
