"""The base of every model of an answer."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Keeps fields that this client does not know, so that it reads the answers of a newer server, and builds its
    validator when it is first used, so that importing hundreds of models is quick."""

    model_config = ConfigDict(extra="allow", defer_build=True, protected_namespaces=())
