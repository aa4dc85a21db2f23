"""The whole flow with requests-oauthlib, which refuses a token response with other scopes than it asked for."""
import base64, hashlib, os
from requests_oauthlib import OAuth2Session

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
base, client_id = os.environ["BASE"], os.environ["CLIENT_ID"]
session = OAuth2Session(client_id, scope=os.environ["SCOPE"].split(" "), redirect_uri=os.environ["CALLBACK"])
verifier = "v" * 64
challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
url, _state = session.authorization_url(
    base + "/oauth2/authorize", code_challenge=challenge, code_challenge_method="S256"
)
print(url, flush=True)
session.fetch_token(
    base + "/oauth2/token", authorization_response=input(), code_verifier=verifier, include_client_id=True
)
print(session.get(base + "/customer-api/v1/contacts").status_code, flush=True)
token = session.refresh_token(base + "/oauth2/token", client_id=client_id)
print(session.get(base + "/customer-api/v1/contacts").status_code, " ".join(token["scope"]), flush=True)
